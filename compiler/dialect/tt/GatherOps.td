// Declares the ops whose result depends on elements at computed indices: gather, scatter_add, histogram.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_GATHER_OPS
#define NEREID_TT_GATHER_OPS

def GatherOp : Tt_Op<"gather", [Pure, Tt_ExcludesPadding,
                                DeclareOpInterfaceMethods<ElementMapOpInterface, ["getElementSources"]>]> {
  let summary = "elements of a tile at indices along one dimension";
  let description = [{
    result[i, j] = src[indices[i, j], j] for axis 0, and so on.
    C1. `0 <= axis < rank`; ranks agree.
    C2. Extents of `indices` and `src` agree in all dimensions but `axis`.
    C3. The result has the indices' shape and encoding and the source's element type.
    An index outside of the source gives one of the source's elements.

    `%g = tt.gather %src[%i] {axis = 0 : i32} : (tensor<16x4xf32>, tensor<8x4xi32>) -> tensor<8x4xf32>`
  }];
  let arguments = (ins Tt_Tile:$src, RankedTensorOf<[I8, I16, I32, I64]>:$indices, I32Attr:$axis,
                       UnitAttr:$efficient_layout);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def ScatterAddOp : Tt_Op<"scatter_add", [Pure, CheckableOpInterface, Tt_ExcludesPadding,
    TypesMatchWith<"mask has the operands' shape", "src", "mask", "::nereid::tt::i1Like($_self)",
                   "($_op.getNumOperands() <= 2) || std::equal_to<>()">]> {
  let summary = "sums of a tile's elements by index";
  let description = [{
    result[k] is the sum of the elements of `src` whose index is k.
    C1. `src` and `indices` have one shape of one dimension, and so has the result.
    C2. The result has the element type of `src`.
    C3. `mask` has the operands' shape; elements where it is false are left out.
    Elements whose index is outside of [0, extent of the result) are left out. The order
    of additions is not defined.

    `%h = tt.scatter_add %x[%i] : (tensor<512xf32>, tensor<512xi32>) -> tensor<16xf32>`
  }];
  let arguments = (ins RankedTensorOf<[I32, I64, F32, F64]>:$src, RankedTensorOf<[I8, I16, I32, I64]>:$indices,
                       Optional<RankedTensorOf<[I1]>>:$mask);
  let results = (outs RankedTensorOf<[I32, I64, F32, F64]>:$result);
  let assemblyFormat = "$src `[` $indices `]` (`,` $mask^)? attr-dict `:` functional-type(operands, results)";
  let extraClassDeclaration = [{
    ::llvm::StringRef getMixedElementName() { return "an element"; }
  }];
  let hasVerifier = 1;
}

def HistogramOp : Tt_Op<"histogram", [Pure, CheckableOpInterface, Tt_ExcludesPadding,
    TypesMatchWith<"mask has the operand's shape", "src", "mask", "::nereid::tt::i1Like($_self)",
                   "($_op.getNumOperands() <= 1) || std::equal_to<>()">]> {
  let summary = "how many elements of a tile have each of the values 0, 1, 2 ...";
  let description = [{
    C1. Operand and result have one dimension.
    C2. `mask` has the operand's shape; elements where it is false do not count.
    Elements outside of [0, extent of the result) do not count.

    `%h = tt.histogram %x : tensor<512xi32> -> tensor<16xi32>`
  }];
  let arguments = (ins RankedTensorOf<[I8, I16, I32, I64]>:$src, Optional<RankedTensorOf<[I1]>>:$mask);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$src (`,` $mask^)? attr-dict `:` type($src) `->` type($result)";
  let extraClassDeclaration = [{
    ::llvm::StringRef getMixedElementName() { return "an element"; }
  }];
  let hasVerifier = 1;
}

#endif
