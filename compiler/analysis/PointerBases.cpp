// Traces pointers to the arguments that they start from.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid;

/// Looks through ops that move a pointer or change its shape.
static Value unmoved(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    const bool isTensorMap = op->hasTrait<ttg::DescribesMemory>();
    if (!isTensorMap && !isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp,
                             tt::BitcastOp, ttg::ConvertLayoutOp>(op))
      break;
    pointer = op->getOperand(0);
  }
  return pointer;
}

/// The values that a loop, branch or select may forward to `value`; nothing for other values.
static SmallVector<Value, 2> sourcesOf(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init)
      return {};
    return {init->get(), loop.getTiedLoopYieldedValue(argument)->get()};
  }
  Operation *op = value.getDefiningOp();
  const unsigned index = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return {loop.getInitArgs()[index], loop.getYieldedValues()[index]};
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return {branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)};
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return {select.getTrueValue(), select.getFalseValue()};
  return {};
}

BlockArgument analysis::baseOf(Value pointer) {
  BlockArgument base;
  SmallVector<Value> todo = {pointer};
  llvm::SmallDenseSet<Value, 8> seen;
  while (!todo.empty()) {
    Value value = unmoved(todo.pop_back_val());
    if (!seen.insert(value).second)
      continue;
    auto argument = dyn_cast<BlockArgument>(value);
    if (argument && isa<tt::FuncOp>(argument.getOwner()->getParentOp())) {
      if (base && base != argument)
        return {};
      base = argument;
      continue;
    }
    const SmallVector<Value, 2> sources = sourcesOf(value);
    if (sources.empty())
      return {};
    todo.append(sources.begin(), sources.end());
  }
  return base;
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

std::optional<analysis::Bases> analysis::writtenBases(scf::ForOp loop) {
  Bases bases;
  const WalkResult result = loop.getBody()->walk([&](Operation *op) {
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

bool analysis::staysUnwritten(Value pointer, const Bases &written) {
  if (written.empty())
    return true;
  BlockArgument base = baseOf(pointer);
  return base && !written.contains(base);
}
