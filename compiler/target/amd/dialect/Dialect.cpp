// Registers the `ttag` dialect.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/dialect/Dialect.h"

#include "compiler/dialect/ttg/Dialect.h"

MLIR_DEFINE_EXPLICIT_TYPE_ID(nereid::ttag::TtagDialect)

nereid::ttag::TtagDialect::TtagDialect(mlir::MLIRContext *context)
    : Dialect(getDialectNamespace(), context, mlir::TypeID::get<TtagDialect>()) {
  context->loadDialect<ttg::TtgDialect>();
}
