// Operands that Gluon's built-ins for NVIDIA GPUs share, and ops whose rules are reported at a call.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/nvidia/Operands.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/gluon/OpRules.h"

namespace nereid::sema {

const TensorValue *barrierArgument(const CallSite &site, llvm::StringRef parameter) {
  const TensorValue *buffer = bufferArgument(site, parameter);
  if (!buffer || buffer->type.scalar == Scalar::Int64)
    return buffer;
  site.emitter.error(diag::BarrierExpected, site.rangeOf(parameter), site.builtin.name, buffer->type.str());
  return nullptr;
}

mlir::Value scalarArgument(const CallSite &site, llvm::StringRef parameter, Scalar type) {
  const Value &value = site[parameter];
  if (value.tensor() && (value.tensor()->type.isTile() || value.tensor()->type.isShared())) {
    site.emitter.error(diag::ScalarExpected, site.rangeOf(parameter), site.builtin.name, parameter, describe(value));
    return {};
  }
  const Value scalar = site.emitter.cast(value, Type(type), site.rangeOf(parameter));
  return scalar.tensor() ? scalar.tensor()->value : mlir::Value();
}

bool checkRules(const CallSite &site, mlir::Operation *op) {
  const std::optional<std::string> message = brokenRule(op);
  if (!message)
    return true;
  site.emitter.error(diag::OpRule, site.range, site.builtin.name, *message);
  op->erase();
  return false;
}

} // namespace nereid::sema
