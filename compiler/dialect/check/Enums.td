// Declares the kinds of checks.
// SPDX-License-Identifier: MIT
#ifndef NEREID_CHECK_ENUMS
#define NEREID_CHECK_ENUMS

include "mlir/IR/EnumAttr.td"

def Check_Kind : I32EnumAttr<"Kind", "what a check is about", [
    I32EnumAttrCase<"Bounds", 0, "bounds">,
    I32EnumAttrCase<"Unwritten", 1, "unwritten">,
    I32EnumAttrCase<"Written", 2, "written">,
    I32EnumAttrCase<"Undefined", 3, "undefined">,
    I32EnumAttrCase<"Overflow", 4, "overflow">,
    I32EnumAttrCase<"Wrapped", 5, "wrapped">,
    I32EnumAttrCase<"Nan", 6, "nan">]> {
  let cppNamespace = "::nereid::check";
}

#endif
