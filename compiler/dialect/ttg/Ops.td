// Declares the ops of `ttg`. Their rules are numbered (C1..); the family's .cpp file verifies them.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TTG_OPS
#define NEREID_TTG_OPS

include "compiler/dialect/tt/Interfaces.td"
include "compiler/dialect/tt/Traits.td"
include "compiler/dialect/ttg/Attrs.td"
include "compiler/dialect/ttg/Enums.td"
include "compiler/dialect/ttg/Interfaces.td"
include "compiler/dialect/ttg/Types.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Ttg_Op<string mnemonic, list<Trait> traits = []> : Op<Ttg_Dialect, mnemonic, traits>;

/// The result is a view of the buffer that is the first operand.
def MemDescView : NativeOpTrait<"MemDescView"> {
  let cppNamespace = "::nereid::ttg";
}

def Ttg_Smem : Resource<"::nereid::ttg::SharedMemory">;

//--- Shape ---------------------------------------------------------------------------------

def ConvertLayoutOp : Ttg_Op<"convert_layout", [Pure, Tt_MovesElements, SameOperandsAndResultShape, SameOperandsAndResultElementType,
                                                DeclareOpInterfaceMethods<ScratchOpInterface>]> {
  let summary = "the same tile in another layout";
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
    C4. An element takes whole bytes.
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

    The optional token is the result of the `async_wait` for the data read.
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemRead<Ttg_Smem>]>:$src, Optional<Ttg_AsyncTokenType>:$token);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src (`token` $token^)? attr-dict `:` type($src) `->` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$src),
                            [{ build($_builder, $_state, result, src, ::mlir::Value()); }]>];
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
  let summary = "ends the lifetime of a buffer";
  let description = [{
    C1. The buffer is not used after it in the same block, whole or by a view.
  }];
  let arguments = (ins Arg<Ttg_MemDescType, "", [MemFree<Ttg_Smem>]>:$src);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
}

def MemDescIndexOp : Ttg_Op<"memdesc_index", [Pure, MemDescView]> {
  let summary = "one of the buffers that follow one another in an allocation";
  let description = [{
    C1. The result has the source's shape without its first dimension, its
        element type, encoding and memory, and is mutable only where the source is.

    The first dimension counts buffers: the encoding has fewer dimensions than the source.

    `%b = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x32x32xf16, ...> -> !ttg.memdesc<32x32xf16, ...>`
  }];
  let arguments = (ins Ttg_MemDescType:$src, I32:$index);
  let results = (outs Ttg_MemDescType:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let builders = [OpBuilder<(ins "::mlir::Value":$src, "::mlir::Value":$index)>];
}

def MemDescSubsliceOp : Ttg_Op<"memdesc_subslice", [Pure, MemDescView]> {
  let summary = "a part of a buffer, from constant offsets on";
  let description = [{
    C1. The result has the source's element type, encoding and allocation, and is
        mutable only where the source is.
    C2. Each offset and the result's extent end within the source. In dimensions that the encoding lays out the offset
        is a multiple of the extent; those in front count buffers, and any offset will do.

    `%b = ttg.memdesc_subslice %m[0, 16]
       : !ttg.memdesc<64x64xf16, #shared, #smem> -> !ttg.memdesc<64x16xf16, #shared, #smem, 64x64>`
  }];
  let arguments = (ins Ttg_MemDescType:$src, DenseI32ArrayAttr:$offsets);
  let results = (outs Ttg_MemDescType:$result);
  let assemblyFormat = [{
    $src `[` custom<Offsets>($offsets) `]` attr-dict `:` qualified(type($src)) `->` qualified(type($result))
  }];
  let hasVerifier = 1;
}

def MemDescTransOp : Ttg_Op<"memdesc_trans", [Pure, MemDescView]> {
  let summary = "a buffer with its dimensions in another order";
  let description = [{
    C1. `order` is a permutation of the buffer's dimensions, which are those of its encoding.
    C2. The result has that order's shape, and its encoding puts the elements
        where they are in memory.

    `%y = ttg.memdesc_trans %x {order = array<i32: 1, 0>}
       : !ttg.memdesc<64x32xf16, #shared, #smem> -> !ttg.memdesc<32x64xf16, #shared1, #smem>`
  }];
  let arguments = (ins Ttg_MemDescType:$src, DenseI32ArrayAttr:$order);
  let results = (outs Ttg_MemDescType:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

include "compiler/dialect/ttg/SharedOps.td"

include "compiler/dialect/ttg/AsyncOps.td"

//--- Control -------------------------------------------------------------------------------

def BarrierOp : Ttg_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "waits for all threads of the CTA and orders their accesses to the memories named";
  let arguments = (ins Ttg_AddressSpaces:$addressSpaces);
  let assemblyFormat = "$addressSpaces attr-dict";
}

include "compiler/dialect/ttg/WarpOps.td"

#endif
