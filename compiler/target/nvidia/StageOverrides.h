// LLVM IR and PTX that the user has written in place of what is made of a kernel.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/nvidia/CudaTarget.h"

#include "llvm/IR/Module.h"

namespace nereid::nvidia {

/// The written module; its kernel has the name and the parameters of `kernel`, and two pointers to scratch memory.
mlir::FailureOr<std::unique_ptr<llvm::Module>> parseLlvm(const StageOverride &stageOverride, tt::FuncOp kernel,
                                                         llvm::LLVMContext &context);
/// Whether the written PTX has the kernel.
mlir::LogicalResult checkPtx(const StageOverride &stageOverride, tt::FuncOp kernel);

} // namespace nereid::nvidia
