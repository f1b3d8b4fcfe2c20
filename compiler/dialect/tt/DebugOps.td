// Declares the ops that print and assert while a kernel runs.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_DEBUG_OPS
#define NEREID_TT_DEBUG_OPS

def PrintOp : Tt_Op<"print", [Tt_ExcludesPadding, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "prints values, once per program";
  let description = [{
    C1. `isSigned` has one entry for each operand: whether its integers are signed.

    `tt.print " x: " {hex = false, isSigned = array<i32: 1>} : %x : tensor<8xi32>`
  }];
  let arguments = (ins StrAttr:$prefix, BoolAttr:$hex, Variadic<Tt_Value>:$args, DenseI32ArrayAttr:$isSigned);
  let assemblyFormat = "$prefix attr-dict (`:` $args^ `:` type($args))?";
  let hasVerifier = 1;
}

def AssertOp : Tt_Op<"assert", [Tt_ExcludesPadding, MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "ends the launch with a message where the condition is false";
  let arguments = (ins Tt_I1Like:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasCanonicalizer = 1;
}

#endif
