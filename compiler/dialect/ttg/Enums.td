// Declares the enums that `ttg` ops carry; the numbers are part of the text format.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ENUMS
#define NEREID_TTG_ENUMS

include "mlir/IR/EnumAttr.td"

def Ttg_None : I32BitEnumAttrCaseNone<"None", "none">;
def Ttg_Local : I32BitEnumAttrCaseBit<"Local", 0, "local">;
def Ttg_GlobalRead : I32BitEnumAttrCaseBit<"GlobalRead", 1, "global_read">;
def Ttg_GlobalWrite : I32BitEnumAttrCaseBit<"GlobalWrite", 2, "global_write">;
def Ttg_TensorRead : I32BitEnumAttrCaseBit<"TensorRead", 3, "tensor_read">;
def Ttg_TensorWrite : I32BitEnumAttrCaseBit<"TensorWrite", 4, "tensor_write">;
def Ttg_All : I32BitEnumAttrCaseGroup<"All",
    [Ttg_Local, Ttg_GlobalRead, Ttg_GlobalWrite, Ttg_TensorRead, Ttg_TensorWrite], "all">;

def Ttg_AddressSpaces : I32BitEnumAttr<"AddressSpaces", "memories that a barrier orders",
    [Ttg_None, Ttg_Local, Ttg_GlobalRead, Ttg_GlobalWrite, Ttg_TensorRead, Ttg_TensorWrite, Ttg_All]> {
  let cppNamespace = "::nereid::ttg";
  let separator = "|";
  let printBitEnumPrimaryGroups = 1;
  let printBitEnumQuoted = 0; // `ttg.barrier all`
}

#endif
