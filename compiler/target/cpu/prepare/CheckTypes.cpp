// Rejects types that the machine does not support, and calls that are left after inlining.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/prepare/Diagnostics.h"
#include "compiler/target/cpu/prepare/Passes.h"

#include "llvm/ADT/StringSet.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_CHECKTYPES
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether a function calls itself, directly or through others.
static bool isRecursive(tt::CallOp call) {
  auto module = call->getParentOfType<ModuleOp>();
  llvm::StringSet<> seen;
  SmallVector<StringRef> pending{call.getCallee()};
  while (!pending.empty()) {
    auto function = module.lookupSymbol<tt::FuncOp>(pending.pop_back_val());
    if (!function)
      continue;
    WalkResult result = function.walk([&](tt::CallOp inner) {
      if (seen.insert(inner.getCallee()).second)
        pending.push_back(inner.getCallee());
      return inner.getCallee() == call.getCallee() ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (result.wasInterrupted())
      return true;
  }
  return false;
}

/// The machine must support every type, and no call may be left.
static LogicalResult checkTypes(tt::FuncOp kernel, bool hasF16c, StringRef arch) {
  auto check = [&](Operation *op, Type type) -> LogicalResult {
    Type element = tt::elementOf(type);
    if (element.isF16() && !hasF16c) // LLVM would call a library function that is not linked
      return tt::report(op->getLoc(), diag::Float16NeedsF16c, arch);
    return success();
  };
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    if (auto call = dyn_cast<tt::CallOp>(op))
      return tt::report(op->getLoc(), isRecursive(call) ? diag::RecursionUnsupported : diag::CallRemains,
                        call.getCallee());
    if (op->hasTrait<OpTrait::ConstantLike>())
      return WalkResult::advance(); // a constant may have no location; its user has one
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        llvm::append_range(types, block.getArgumentTypes());
    for (Type type : types)
      if (failed(check(op, type)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct CheckTypes : nereid::cpu::impl::CheckTypesBase<CheckTypes> {
  using CheckTypesBase::CheckTypesBase;
  void runOnOperation() final {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      if (function.isPublic() && failed(checkTypes(function, hasF16c, arch)))
        return signalPassFailure();
  }
};
} // namespace
