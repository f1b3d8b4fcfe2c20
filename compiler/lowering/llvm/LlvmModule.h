// Verifies and prints modules of LLVM IR for all targets.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/Support/LogicalResult.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nereid::lowering {

/// In builds with assertions, reports an error at `kernel` where the module is invalid; other builds do not verify.
mlir::LogicalResult verifyLlvm(mlir::Operation *kernel, const llvm::Module &module);

std::string printLlvm(const llvm::Module &module);

/// Reports LLVM's error at `op`.
mlir::LogicalResult diagnose(mlir::Operation *op, llvm::Error error);

/// The value, or LLVM's error reported at `op`.
template <typename T> mlir::FailureOr<T> orDiagnose(mlir::Operation *op, llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  return diagnose(op, value.takeError());
}

} // namespace nereid::lowering
