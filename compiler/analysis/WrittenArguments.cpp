// Follows each pointer argument of a kernel through all values derived from it.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/WrittenArguments.h"

#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace nereid;

/// Whether a type is that of pointers, tiles of pointers or descriptors: no number, no copy under way.
static bool mayHoldPointer(Type type) {
  return !isa<IntegerType, FloatType, IndexType, ttg::AsyncTokenType>(getElementTypeOrSelf(type));
}

namespace {
/// Follows one pointer through a module. Each `follow` is false where the pointer is written through or escapes.
class PointerTracker {
public:
  explicit PointerTracker(ModuleOp module) : module(module) {}

  bool endsInWrite(Value pointer) {
    track(pointer);
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      if (!llvm::all_of(value.getUses(), [&](OpOperand &use) { return follow(use); }))
        return true;
    }
    return false;
  }

private:
  void track(Value value) {
    if (seen.insert(value).second)
      pending.push_back(value);
  }

  bool trackResults(Operation *op) {
    for (Value result : op->getResults()) {
      if (!mayHoldPointer(result.getType()))
        return false; // an address as an integer may become any pointer
      track(result);
    }
    return true;
  }

  bool follow(OpOperand &use);
  bool followCall(tt::CallOp call, unsigned argument);
  bool followReturn(tt::ReturnOp op, unsigned result);
  bool followForwarded(OpOperand &use);
  bool followEffects(MemoryEffectOpInterface op, OpOperand &use);

  ModuleOp module;
  llvm::DenseSet<Value> seen;
  SmallVector<Value> pending;
};
} // namespace

bool PointerTracker::followCall(tt::CallOp call, unsigned argument) {
  auto callee = module.lookupSymbol<tt::FuncOp>(call.getCallee());
  if (!callee || callee.isExternal())
    return false;
  track(callee.getArgument(argument));
  return true;
}

bool PointerTracker::followReturn(tt::ReturnOp op, unsigned result) {
  auto function = op->getParentOfType<tt::FuncOp>();
  std::optional<SymbolTable::UseRange> uses = SymbolTable::getSymbolUses(function, module);
  if (!uses)
    return false;
  for (const SymbolTable::SymbolUse &use : *uses) {
    auto call = dyn_cast<tt::CallOp>(use.getUser());
    if (!call)
      return false;
    track(call.getResult(result));
  }
  return true;
}

/// Follows an operand of a loop, a branch or a terminator.
bool PointerTracker::followForwarded(OpOperand &use) {
  const SmallVector<Value, 2> targets = analysis::forwardedFrom(use);
  llvm::for_each(targets, [&](Value target) { track(target); });
  return !targets.empty();
}

/// An op may read what the operand points to; any other effect, on it or through it, counts as a write.
bool PointerTracker::followEffects(MemoryEffectOpInterface op, OpOperand &use) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  op.getEffects(effects);
  bool isRead = false;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (isa<ttg::SharedMemory>(effect.getResource())) // no argument points there
      continue;
    auto *operand = effect.getEffectValue<OpOperand *>();
    const bool reads = isa<MemoryEffects::Read>(effect.getEffect());
    if (!reads && (!operand || operand == &use))
      return false;
    isRead |= reads && (!operand || operand == &use);
  }
  if (!isRead)
    return false;
  for (Value result : op->getResults())
    if (mayHoldPointer(result.getType()))
      track(result);
  return true;
}

bool PointerTracker::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  const unsigned index = use.getOperandNumber();
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return use.get() == load.getPtr() || trackResults(op); // a loaded pointer comes from elsewhere
  if (isa<tt::AtomicLoadOp>(op))
    return true; // its write effect only orders
  if (auto call = dyn_cast<tt::CallOp>(op))
    return followCall(call, index);
  if (auto leave = dyn_cast<tt::ReturnOp>(op))
    return followReturn(leave, index);
  if (isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface>(op))
    return followForwarded(use);
  if (op->getNumRegions() == 0 && !op->hasTrait<OpTrait::IsTerminator>() && isMemoryEffectFree(op))
    return trackResults(op);
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  return effects && op->getNumRegions() == 0 && followEffects(effects, use);
}

llvm::SmallBitVector analysis::writtenArguments(tt::FuncOp kernel) {
  llvm::SmallBitVector written(kernel.getNumArguments());
  auto module = kernel->getParentOfType<ModuleOp>();
  for (BlockArgument argument : kernel.getArguments())
    if (mayHoldPointer(argument.getType()) && PointerTracker(module).endsInWrite(argument))
      written.set(argument.getArgNumber());
  return written;
}
