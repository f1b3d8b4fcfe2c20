// Declares block pointers, which earlier versions of Triton print; the verifiers are in BlockPointer.cpp.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_BLOCK_POINTER_OPS
#define NEREID_TT_BLOCK_POINTER_OPS

include "compiler/dialect/tt/Types.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def MakeTensorPtrOp : Op<Tt_Dialect, "make_tensor_ptr", [Pure, AttrSizedOperandSegments,
    TypesMatchWith<"base points to the tile's elements", "result", "base", "::nereid::tt::elementPointer($_self)">]> {
  let summary = "points to a tile of a strided array";
  let description = [{
    C1. The result points to a tile.
    C2. Shape, strides, offsets and order have one entry per dimension of it; order is a permutation.

    Parsed, never created by passes: `tt-expand-block-pointers` expands it into addresses.

    `%b = tt.make_tensor_ptr %p, [%m, %n], [%s, %one], [%i, %j] {order = array<i32: 1, 0>} : <tensor<16x16xf32>>`
  }];
  let arguments = (ins Tt_PointerType:$base, Variadic<I64>:$shape, Variadic<I64>:$strides, Variadic<I32>:$offsets,
                       DenseI32ArrayAttr:$order);
  let results = (outs Tt_PointerType:$result);
  let assemblyFormat = [{
    $base `,` `[` $shape `]` `,` `[` $strides `]` `,` `[` $offsets `]` attr-dict `:` type($result)
  }];
  let hasVerifier = 1;
}

def AdvanceOp : Op<Tt_Dialect, "advance", [Pure, TypesMatchWith<"result and ptr have one type", "result", "ptr", "$_self">]> {
  let summary = "moves a pointer to a tile";
  let description = [{
    C1. The pointer points to a tile; there is one offset per dimension of it.

    `%c = tt.advance %b, [%zero, %k] : <tensor<16x16xf32>>`
  }];
  let arguments = (ins Tt_PointerType:$ptr, Variadic<I32>:$offsets);
  let results = (outs Tt_PointerType:$result);
  let assemblyFormat = "$ptr `,` `[` $offsets `]` attr-dict `:` type($result)";
  let hasVerifier = 1;
}

#endif
