// Declares the traits of ops on tiles that `tt` and the dialects above it share.
// SPDX-License-Identifier: MIT
#ifndef NEREID_TT_TRAITS
#define NEREID_TT_TRAITS

include "mlir/IR/OpBase.td"

/// All tiles have one encoding, or none has one.
def Tt_SameEncoding : NativeOpTrait<"SameEncoding"> {
  let cppNamespace = "::nereid::tt";
}
/// The results hold elements of the operands, at other coordinates or in other threads.
def Tt_MovesElements : NativeOpTrait<"MovesElements"> {
  let cppNamespace = "::nereid::tt";
}

#endif
