// Declares the op that applies a scalar function to every element.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_MAP_OPS
#define NEREID_TT_MAP_OPS

def MapElementwiseOp : Tt_Op<"map_elementwise", [RecursiveMemoryEffects, SameOperandsAndResultShape,
                                                 Tt_SameEncoding, CheckableOpInterface, Tt_PreparesPadding]> {
  let summary = "a function of scalars, with control flow of its own, applied to every element";
  let description = [{
    C1. There is an operand; `pack` is a power of two and divides the element count.
    C2. The region takes `pack` scalars of each operand, those of one operand
        together, and returns `pack` scalars of each result.
    C3. `pack` is 1 where tiles have an encoding.
    The `pack` elements of a call follow one another in row-major order. In
    imported text the region may have branches; `tt-lift-control-flow` converts
    them to `scf`.
  }];
  let arguments = (ins Variadic<Tt_Tile>:$srcs, I32Attr:$pack);
  let results = (outs Variadic<Tt_Tile>:$results);
  let regions = (region MinSizedRegion<1>:$scalarOp);
  let extraClassDeclaration = [{
    bool mayProduceNan() { return true; }
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let hasCanonicalizer = 1;
}

def MapElementwiseReturnOp : Tt_Op<"map_elementwise.return", [HasParent<"MapElementwiseOp">, Pure, Terminator,
                                                              ReturnLike]> {
  let summary = "the results for the elements of one call";
  let arguments = (ins Variadic<Tt_Scalar>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif
