// Stages that the user supplies in place of the generated ones.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <string>

namespace nereid::lowering {

struct StageOverride {
  const std::string &text;
  const std::string &path;
};

/// The user's module; its kernel must have the name and the parameters of `kernel`, and two pointers to scratch memory.
mlir::FailureOr<std::unique_ptr<llvm::Module>> parseLlvm(const StageOverride &stageOverride, tt::FuncOp kernel,
                                                         llvm::LLVMContext &context);

/// Reports that the user's text has no `kind` ("entry") of the kernel's name.
mlir::LogicalResult missingEntry(const StageOverride &stageOverride, llvm::StringRef kind, tt::FuncOp kernel);

} // namespace nereid::lowering
