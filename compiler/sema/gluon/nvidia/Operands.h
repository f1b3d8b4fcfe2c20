// Operands that Gluon's built-ins for NVIDIA GPUs share, and ops whose rules are reported at a call.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/gluon/Arguments.h"
#include "compiler/sema/gluon/SharedMemory.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

namespace nereid::sema {

inline constexpr llvm::StringLiteral ampereModule = "triton.experimental.gluon.language.nvidia.ampere";
inline constexpr llvm::StringLiteral hopperModule = "triton.experimental.gluon.language.nvidia.hopper";

/// The argument as one barrier or several, i64 in shared memory; null after an error.
const TensorValue *barrierArgument(const CallSite &site, llvm::StringRef parameter);
/// The argument as a scalar of that type; null after an error.
mlir::Value scalarArgument(const CallSite &site, llvm::StringRef parameter, Scalar type);

/// Reports the rules of the ttng dialect that an op breaks at the call, and erases it; true where there are none.
bool checkRules(const CallSite &site, mlir::Operation *op);

/// Emits an op without a result; None, or poison after an error.
template <typename Op, typename... Args> Value emitChecked(const CallSite &site, Args &&...args) {
  auto op = Op::create(builderOf(site), locationOf(site), std::forward<Args>(args)...);
  return checkRules(site, op) ? Value() : Value::poison();
}

} // namespace nereid::sema
