// What targets do alike with a module of LLVM IR.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"
#include "mlir/Support/LogicalResult.h"

#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <string>

namespace nereid::lowering {

/// In builds with assertions an error at `kernel` where the module is invalid; the module is not looked at in others.
mlir::LogicalResult verifyLlvm(mlir::Operation *kernel, const llvm::Module &module);

std::string printLlvm(const llvm::Module &module);

/// The value, or LLVM's error as one at `op`.
template <typename T> mlir::FailureOr<T> orDiagnose(mlir::Operation *op, llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  return op->emitError() << llvm::toString(value.takeError());
}

} // namespace nereid::lowering
