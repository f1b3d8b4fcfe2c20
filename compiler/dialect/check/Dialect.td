// Declares the `check` dialect: what a sanitizer looks at while a kernel runs.
// SPDX-License-Identifier: MIT
#ifndef NEREID_CHECK_DIALECT
#define NEREID_CHECK_DIALECT

include "mlir/IR/OpBase.td"

def Check_Dialect : Dialect {
  let name = "check";
  let cppNamespace = "::nereid::check";
  let summary = "Values that a sanitizer looks at";
  let description = [{
    Written by the pass `tt-insert-checks`, carried out by a target that can. No text of users has it.
  }];
}

#endif
