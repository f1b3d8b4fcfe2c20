// Traces pointers to the arguments that they start from.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid;

BlockArgument analysis::functionArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp()) ? argument : BlockArgument();
}

/// The operands of `op` from which the pointers in its results are derived; nothing where they come from elsewhere.
static OperandRange derivedFrom(Operation *op) {
  const bool isMoved = isa<tt::AddPtrOp, tt::BitcastOp>(op) || op->hasTrait<ttg::DescribesMemory>();
  return isMoved ? op->getOperands().take_front() : tt::elementSources(op);
}

analysis::PointerSources analysis::sourcesOf(Value pointer) {
  PointerSources sources;
  SmallVector<Value> todo = {pointer};
  llvm::SmallDenseSet<Value, 8> seen;
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (SmallVector<Value, 2> forwarded = forwardedTo(value); !forwarded.empty()) {
      todo.append(forwarded);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (BlockArgument argument = functionArgument(value))
      sources.arguments.insert(argument);
    else if (op && !derivedFrom(op).empty())
      llvm::append_range(todo, derivedFrom(op));
    else if (!isa_and_nonnull<ub::PoisonOp>(op))
      sources.hasOthers = true;
  }
  return sources;
}

BlockArgument analysis::baseOf(Value pointer) {
  const PointerSources sources = sourcesOf(pointer);
  return !sources.hasOthers && sources.arguments.size() == 1 ? sources.arguments.front() : BlockArgument();
}

/// Shared memory is not visible through pointer arguments.
static bool writesSharedAlone(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return false;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::all_of(effects, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Read>(effect.getEffect()) || isa<ttg::SharedMemory>(effect.getResource());
  });
}

/// The tensor map that an op writes according to its effects; null where it writes otherwise, or not at all.
static Value writtenTensorMap(Operation *op) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface || op->getNumOperands() == 0 || !isa<tt::PointerType>(op->getOperand(0).getType()))
    return {};
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  Value tensorMap;
  for (const MemoryEffects::EffectInstance &effect : effects) {
    if (isa<MemoryEffects::Read>(effect.getEffect()) || isa<ttg::SharedMemory>(effect.getResource()))
      continue;
    if (effect.getValue() != op->getOperand(0))
      return {};
    tensorMap = op->getOperand(0);
  }
  return tensorMap;
}

std::optional<analysis::Bases> analysis::writtenBases(Operation *around) {
  Bases bases;
  const WalkResult result = around->walk([&](Operation *op) {
    if (op == around)
      return WalkResult::advance();
    auto access = memoryAccessOf(op);
    if (access && !access->isStore())
      return WalkResult::advance();
    if (access) {
      BlockArgument base = baseOf(access->pointer);
      bases.insert(base);
      return base ? WalkResult::advance() : WalkResult::interrupt();
    }
    if (Value tensorMap = writtenTensorMap(op)) {
      BlockArgument base = baseOf(tensorMap);
      bases.insert(base);
      return base ? WalkResult::advance() : WalkResult::interrupt();
    }
    const bool isHarmless = isa<imported::AssumeOp>(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                            isMemoryEffectFree(op) || writesSharedAlone(op);
    return isHarmless ? WalkResult::advance() : WalkResult::interrupt();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return bases;
}

bool analysis::mayRead(Operation *op, BlockArgument base) {
  if (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
    return false; // the ops inside read
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  const std::optional<MemoryAccess> access = anyAccessOf(op);
  return llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
    if (!isa<MemoryEffects::Read>(effect.getEffect()) || isa<ttg::SharedMemory>(effect.getResource()))
      return false;
    Value pointer = effect.getValue() ? effect.getValue() : access ? access->pointer : Value();
    const BlockArgument other = pointer ? baseOf(pointer) : BlockArgument();
    return !base || !other || base == other;
  });
}

bool analysis::staysUnwritten(Value pointer, const Bases &written) {
  if (written.empty())
    return true;
  BlockArgument base = baseOf(pointer);
  return base && !written.contains(base);
}
