// Declares dot and dot_scaled.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_DOT_OPS
#define NEREID_TT_DOT_OPS

def Tt_NumberTile : RankedTensorOf<[Tt_Float, Tt_Int]>;

def DotOp : Tt_Op<"dot", [Pure, DotOpInterface, CheckableOpInterface, Tt_ExcludesPadding,
                          TypesMatchWith<"result and c have one type", "d", "c", "$_self">]> {
  let summary = "matrix multiplication of two tiles, added to a third";
  let description = [{
    d = a * b + c over the last two dimensions; a third dimension in front is the batch.
    C1. Operands have rank 2, or all have rank 3 and one first extent.
    C2. `a` is [M, K], `b` is [K, N] and `c` is [M, N].
    C3. `a` and `b` have one element type, or both are fp8.
    `inputPrecision` says how f32 operands may be rounded before they are multiplied; `maxNumImpreciseAcc` how many
    products of fp8 may be accumulated with less precision.

    `%d = tt.dot %a, %b, %c, inputPrecision = tf32 : tensor<16x8xf32> * tensor<8x4xf32> -> tensor<16x4xf32>`
  }];
  let arguments = (ins Tt_NumberTile:$a, Tt_NumberTile:$b, Tt_NumberTile:$c,
      DefaultValuedAttr<Tt_InputPrecision, "::nereid::tt::InputPrecision::IEEE">:$inputPrecision,
      DefaultValuedAttr<I32Attr, "0">:$maxNumImpreciseAcc);
  let results = (outs Tt_NumberTile:$d);
  let assemblyFormat = [{
    $a `,` $b `,` $c (`,` `inputPrecision` `=` $inputPrecision^)? attr-dict
    `:` type($a) `*` type($b) `->` type($d)
  }];
  let extraClassDeclaration = [{
    ::llvm::StringRef getMixedElementName() { return "an operand of `dot`"; }
    bool mayProduceNan() { return true; }
  }];
  let hasVerifier = 1;
}

def DotScaledOp : Tt_Op<"dot_scaled", [Pure, AttrSizedOperandSegments, DotOpInterface,
                                       TypesMatchWith<"result and c have one type", "d", "c", "$_self">]> {
  let summary = "matrix multiplication of tiles in microscaling formats, added to a third";
  let description = [{
    Each scale multiplies 16 or 32 adjacent elements along K. Format e2m1 holds two values in a byte, the low half
    first, along K or, where `lhs_k_pack` or `rhs_k_pack` is false, along M or N.
    C1. Ranks are 2, or all 3 with one first extent.
    C2. Unpacked, `a` is [M, K], `b` is [K, N] and `c` is [M, N].
    C3. A scale of `a` is [M, K / 16] or [M, K / 32], one of `b` the same with N.

    `%d = tt.dot_scaled %a scale %s, %b, %c lhs = e4m3 rhs = bf16 {fastMath = false}
       : tensor<16x64xf8E4M3FN>, tensor<16x2xi8> * tensor<64x8xbf16> -> tensor<16x8xf32>`
  }];
  let arguments = (ins Tt_NumberTile:$a, Tt_NumberTile:$b, Tt_NumberTile:$c, Optional<Tt_NumberTile>:$a_scale,
      Optional<Tt_NumberTile>:$b_scale, Tt_ScaleDotElemType:$a_elem_type, Tt_ScaleDotElemType:$b_elem_type,
      BoolAttr:$fastMath, DefaultValuedAttr<BoolAttr, "true">:$lhs_k_pack,
      DefaultValuedAttr<BoolAttr, "true">:$rhs_k_pack);
  let results = (outs Tt_NumberTile:$d);
  let assemblyFormat = [{
    $a (`scale` $a_scale^)? `,` $b (`scale` $b_scale^)? `,` $c `lhs` `=` $a_elem_type `rhs` `=` $b_elem_type attr-dict
    `:` type($a) (`,` type($a_scale)^)? `*` type($b) (`,` type($b_scale)^)? `->` type($d)
  }];
  let extraClassDeclaration = [{
    /// Extents along M, N and K, in values.
    int64_t getRows();
    int64_t getColumns();
    int64_t getDepth();
    /// Whether both operands are fp8, or e2m1 packed along K, and scales are e8m0 for 32 values each: the
    /// microscaling (MX) formats of OCP.
    bool isMicroscaled();
  }];
  let hasVerifier = 1;
}

#endif
