// Declares the inclusive scan along a dimension.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_SCAN_OPS
#define NEREID_TT_SCAN_OPS

def ScanOp : Tt_CombiningOp<"scan"> {
  let summary = "every element combined with all before it along one dimension";
  let description = [{
    C1. All operands have one shape and encoding; `0 <= axis < rank`.
    C2. The region takes two scalars per operand (the accumulators first) and
        returns one per operand, of the operands' element types.
    C3. Each result has its operand's type.
    `reverse` scans from the last element to the first. The combination must be associative.
  }];
  let arguments = (ins Variadic<Tt_Tile>:$srcs, I32Attr:$axis, BoolAttr:$reverse);
  let results = (outs Variadic<Tt_Tile>:$results);
  let regions = (region SizedRegion<1>:$combine);
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasFolder = 1;
}

def ScanReturnOp : Tt_Op<"scan.return", [HasParent<"ScanOp">, Pure, Terminator, ReturnLike]> {
  let summary = "the combined value of a scan";
  let arguments = (ins Variadic<Tt_Scalar>:$values);
  let assemblyFormat = "$values attr-dict `:` type($values)";
}

#endif
