// Declares the traits of ops on tiles that `tt` and the dialects above it share.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_TRAITS
#define NEREID_TT_TRAITS

include "mlir/IR/OpBase.td"

/// All tiles have one encoding, or none has one.
def Tt_SameEncoding : NativeOpTrait<"SameEncoding"> {
  let cppNamespace = "::nereid::tt";
}

#endif
