// Declares the ops of the `gluon` dialect.
// SPDX-License-Identifier: MIT
#ifndef NEREID_GLUON_OPS
#define NEREID_GLUON_OPS

include "compiler/dialect/gluon/Attrs.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def SetAutoLayoutOp : Op<Gluon_Dialect, "set_auto_layout",
                         [Pure, SameOperandsAndResultShape, SameOperandsAndResultElementType]> {
  let summary = "gives a tile whose layout is to be found that of the result";
  let description = [{
    C1. The source's layout is still to be found.

    `%y = gluon.set_auto_layout %x : tensor<64xf32, #gluon.auto_encoding> -> tensor<64xf32, #blocked>`
  }];
  let arguments = (ins AnyRankedTensor:$src);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

#endif
