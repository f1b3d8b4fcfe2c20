// Reads LLVM IR and PTX that the user supplies in place of a kernel's generated code.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/nvidia/CudaTarget.h"

#include "llvm/IR/Module.h"

namespace nereid::nvidia {

/// The user's module; its kernel must have the name and the parameters of `kernel`, and two pointers to scratch memory.
mlir::FailureOr<std::unique_ptr<llvm::Module>> parseLlvm(const StageOverride &stageOverride, tt::FuncOp kernel,
                                                         llvm::LLVMContext &context);
/// Checks that the user's PTX has the kernel.
mlir::LogicalResult checkPtx(const StageOverride &stageOverride, tt::FuncOp kernel);

} // namespace nereid::nvidia
