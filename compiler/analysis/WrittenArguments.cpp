// Follows each pointer argument of a kernel through everything that is made of it.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/WrittenArguments.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace nereid;

/// Pointers, tiles of them, descriptors: all but numbers.
static bool mayHoldPointer(Type type) { return !isa<IntegerType, FloatType, IndexType>(getElementTypeOrSelf(type)); }

namespace {
/// What is known of one pointer's way through a module. Each `follow` is false where it ends in a write or is lost.
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
        return false; // an address that is a number may become any pointer
      track(result);
    }
    return true;
  }

  bool follow(OpOperand &use);
  bool followCall(tt::CallOp call, unsigned argument);
  bool followReturn(tt::ReturnOp op, unsigned result);
  bool followBranch(RegionBranchOpInterface op, RegionBranchPoint point, OpOperand &use);
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

bool PointerTracker::followBranch(RegionBranchOpInterface op, RegionBranchPoint point, OpOperand &use) {
  RegionBranchSuccessorMapping mapping;
  op.getSuccessorOperandInputMapping(mapping, point);
  auto found = mapping.find(&use);
  if (found == mapping.end())
    return false;
  llvm::for_each(found->second, [&](Value input) { track(input); });
  return true;
}

/// An op may read what the operand points to; anything else that it does to or with the operand is too much.
bool PointerTracker::followEffects(MemoryEffectOpInterface op, OpOperand &use) {
  SmallVector<MemoryEffects::EffectInstance> effects;
  op.getEffects(effects);
  bool isRead = false;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    auto *operand = effect.getEffectValue<OpOperand *>();
    const bool reads = isa<MemoryEffects::Read>(effect.getEffect());
    if (!reads && (!operand || operand == &use))
      return false;
    isRead |= reads && operand == &use;
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
    return use.get() == load.getPtr() || trackResults(op); // a pointer that is loaded is another's
  if (isa<tt::AtomicLoadOp>(op))
    return true; // its write effect only orders
  if (auto call = dyn_cast<tt::CallOp>(op))
    return followCall(call, index);
  if (auto leave = dyn_cast<tt::ReturnOp>(op))
    return followReturn(leave, index);
  if (auto branch = dyn_cast<RegionBranchOpInterface>(op))
    return followBranch(branch, RegionBranchPoint::parent(), use);
  if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(op))
    if (auto branch = dyn_cast<RegionBranchOpInterface>(op->getParentOp()))
      return followBranch(branch, RegionBranchPoint(end), use);
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
