// Declares join, split and cat.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_JOIN_OPS
#define NEREID_TT_JOIN_OPS

def JoinOp : Tt_Op<"join", [Pure, Tt_MovesElements, SameTypeOperands]> {
  let summary = "two tiles side by side in a new last dimension of extent 2";
  let description = [{
    C1. The result has the operands' shape and a last dimension of extent 2;
        element types agree. Its element `[.., 0]` is the left operand's.
    C2. With encodings each thread holds the same elements of both operands and,
        joined, of the result.

    `%j = tt.join %a, %b : tensor<8x4xf32> -> tensor<8x4x2xf32>`
  }];
  let arguments = (ins Tt_Tile:$lhs, Tt_Tile:$rhs);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def SplitOp : Tt_Op<"split", [Pure, Tt_MovesElements, AllTypesMatch<["outLHS", "outRHS"]>]> {
  let summary = "the two halves of a tile along its last dimension, which has extent 2";
  let description = [{
    C1. The last dimension of the operand has extent 2 and is not the only one.
    C2. Both results have the operand's shape without it and its element type.
    C3. With encodings each thread holds the same elements of both results and,
        joined, of the operand.

    `%a, %b = tt.split %j : tensor<8x4x2xf32> -> tensor<8x4xf32>`
  }];
  let arguments = (ins Tt_Tile:$src);
  let results = (outs Tt_Tile:$outLHS, Tt_Tile:$outRHS);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($outLHS)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def CatOp : Tt_Op<"cat", [Pure, Tt_MovesElements, SameTypeOperands, Tt_PreparesPadding]> {
  let summary = "the elements of two tiles in one dimension, in an order that the target chooses";
  let description = [{
    C1. Operands and result have one dimension and one element type; the
        result has as many elements as both operands.
    C2. With encodings each thread holds the same elements of both operands and,
        one half after the other, of the result.

    `%c = tt.cat %a, %b : tensor<16xf32> -> tensor<32xf32>`
  }];
  let arguments = (ins Tt_Tile:$lhs, Tt_Tile:$rhs);
  let results = (outs Tt_Tile:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

#endif
