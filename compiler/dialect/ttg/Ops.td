// Declares the ops of `ttg`; rules are numbered (C1..) and live in the family's .cpp file.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_OPS
#define NEREID_TTG_OPS

include "compiler/dialect/ttg/Attrs.td"
include "compiler/dialect/ttg/Enums.td"
include "compiler/dialect/ttg/Types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ttg_Op<string mnemonic, list<Trait> traits = []> : Op<Ttg_Dialect, mnemonic, traits>;

def Ttg_Smem : Resource<"::nereid::ttg::SharedMemory">;

//--- Shape ---------------------------------------------------------------------------------

def ConvertLayoutOp : Ttg_Op<"convert_layout", [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "the same tile, held by other threads";
  let description = [{
    C1. Both types have an encoding.

    `%y = ttg.convert_layout %x : tensor<64xf32, #blocked> -> tensor<64xf32, #blocked1>`
  }];
  let arguments = (ins AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

//--- Memory --------------------------------------------------------------------------------

def LocalAllocOp : Ttg_Op<"local_alloc"> {
  let summary = "a buffer in shared memory, filled with a tile if one is given";
  let description = [{
    C1. A buffer without a tile is mutable.
    C2. The tile has the buffer's shape and element type.
    C3. The buffer is a whole allocation.
  }];
  let arguments = (ins Optional<AnyRankedTensor>:$src, OptionalAttr<I32Attr>:$alignment);
  let results = (outs Res<Ttg_MemDescType, "", [MemAlloc<Ttg_Smem>]>:$result);
  let assemblyFormat = "($src^)? attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def LocalLoadOp : Ttg_Op<"local_load"> {
  let summary = "reads a tile from shared memory";
  let description = [{
    C1. The tile has the buffer's shape and element type, and an encoding.
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemRead<Ttg_Smem>]>:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def LocalStoreOp : Ttg_Op<"local_store"> {
  let summary = "writes a tile to shared memory";
  let description = [{
    C1. The tile has the buffer's shape and element type, and an encoding.
    C2. The buffer is mutable.
  }];
  let arguments = (ins AnyRankedTensor:$src, Arg<Ttg_MemDescType, "", [MemWrite<Ttg_Smem>]>:$dst);
  let assemblyFormat = "$src `,` $dst attr-dict `:` type($src) `->` type($dst)";
  let hasVerifier = 1;
}

def LocalDeallocOp : Ttg_Op<"local_dealloc"> {
  let summary = "ends the life of a buffer";
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemFree<Ttg_Smem>]>:$src);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

//--- Control -------------------------------------------------------------------------------

def BarrierOp : Ttg_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the block and orders their accesses to the memories named";
  let arguments = (ins Ttg_AddressSpaces:$addressSpaces);
  let assemblyFormat = "$addressSpaces attr-dict";
}

#endif
