// Declares the `check` dialect: checks of values that a sanitizer runs inside a kernel.
// SPDX-License-Identifier: MIT
#ifndef NEREID_CHECK_DIALECT
#define NEREID_CHECK_DIALECT

include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::nereid::check";
  let summary = "Checks of values by a sanitizer";
  let description = [{
    Emitted by the pass `tt-insert-checks` and lowered by the targets that support it. Imported text never contains it.
  }];
}

#endif
