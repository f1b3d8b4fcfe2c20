// The `ttag` dialect: AMD GPUs as a target of `ttg`. It has no ops; it carries the target's ttg::TargetInterface.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Dialect.h"

namespace nereid::ttag {

class TtagDialect : public mlir::Dialect {
public:
  explicit TtagDialect(mlir::MLIRContext *context);
  static constexpr llvm::StringLiteral getDialectNamespace() { return "ttag"; }
};

} // namespace nereid::ttag

MLIR_DECLARE_EXPLICIT_TYPE_ID(nereid::ttag::TtagDialect)
