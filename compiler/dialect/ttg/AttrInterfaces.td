// Declares what every encoding of a tile can do: become a linear map.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_ATTR_INTERFACES
#define NEREID_TTG_ATTR_INTERFACES

include "mlir/IR/OpBase.td"

def LayoutEncoding : AttrInterface<"LayoutEncoding"> {
  let cppNamespace = "::nereid::ttg";
  let description = [{
    An encoding has one duty: to be a linear map from hardware bits to the
    coordinates of a tile. Nothing else asks what kind of encoding it is.
  }];
  let methods = [
    InterfaceMethod<"the number of dimensions of the tiles it may stand on", "unsigned", "getRank">,
    InterfaceMethod<[{
      The map for a tile of `shape`. Inputs of a tile in registers are register,
      lane, warp, block; no register is a copy of another. Inputs of a tile in
      shared memory are offset (in elements) and block.
    }], "::nereid::layout::LinearLayout", "toLinearLayout", (ins "::llvm::ArrayRef<int64_t>":$shape)>,
    InterfaceMethod<"whether threads hold the elements, not shared memory", "bool", "isDistributed", (ins), "",
                    "return true;">,
  ];
}

#endif
