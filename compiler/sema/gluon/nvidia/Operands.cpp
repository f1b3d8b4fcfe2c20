// Operands that Gluon's built-ins for NVIDIA GPUs share, and ops whose rules are reported at a call.
// SPDX-License-Identifier: MIT
#include "compiler/sema/gluon/nvidia/Operands.h"

#include "compiler/sema/Diagnostics.h"

#include "mlir/IR/Verifier.h"

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

/// Without the name of the op, which the message of the call has.
static std::string withoutOp(std::string text) {
  llvm::StringRef rest = text;
  if (rest.consume_front("'"))
    if (const size_t end = rest.find("' op "); end != llvm::StringRef::npos)
      return rest.drop_front(end + 5).str();
  return text;
}

bool checkRules(const CallSite &site, mlir::Operation *op) {
  std::string message;
  mlir::LogicalResult result = mlir::failure();
  {
    mlir::ScopedDiagnosticHandler handler(op->getContext(), [&](mlir::Diagnostic &diagnostic) {
      message += (message.empty() ? "" : "; ") + diagnostic.str();
      return mlir::success();
    });
    result = mlir::verify(op, /*verifyRecursively=*/false);
  }
  if (succeeded(result))
    return true;
  site.emitter.error(diag::OpRule, site.range, site.builtin.name, withoutOp(message));
  op->erase();
  return false;
}

} // namespace nereid::sema
