// Declares the `gluon` dialect: layouts that the author of a kernel leaves to the compiler.
// SPDX-License-Identifier: MIT
#ifndef NEREID_GLUON_DIALECT
#define NEREID_GLUON_DIALECT

include "mlir/IR/OpBase.td"

def Gluon_Dialect : Dialect {
  let name = "gluon";
  let cppNamespace = "::nereid::gluon";
  let summary = "Layouts of `ttg` tiles that are still to be found";
  let description = [{
    Modules of Gluon kernels are `ttg` whose tiles may have the encodings of this
    dialect. A pass replaces all of them: no later pass sees this dialect.
  }];
  let dependentDialects = ["::nereid::ttg::TtgDialect"];
  let useDefaultAttributePrinterParser = 1;
}

#endif
