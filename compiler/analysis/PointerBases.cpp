// Follows pointers to the arguments that they start from.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid;

/// Back over ops that move a pointer or change its shape.
static Value unmoved(Value pointer) {
  while (Operation *op = pointer.getDefiningOp()) {
    if (!isa<tt::AddPtrOp, tt::SplatOp, tt::BroadcastOp, tt::ExpandDimsOp, tt::ReshapeOp, tt::TransOp, tt::BitcastOp,
             ttg::ConvertLayoutOp>(op))
      break;
    pointer = op->getOperand(0);
  }
  return pointer;
}

BlockArgument analysis::baseOf(Value pointer) {
  while (true) {
    auto argument = dyn_cast<BlockArgument>(unmoved(pointer));
    if (!argument)
      return {};
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<tt::FuncOp>(parent))
      return argument;
    // A pointer that a loop carries and only moves.
    auto loop = dyn_cast<scf::ForOp>(parent);
    OpOperand *init = loop ? loop.getTiedLoopInit(argument) : nullptr;
    if (!init || unmoved(loop.getTiedLoopYieldedValue(argument)->get()) != argument)
      return {};
    pointer = init->get();
  }
}

/// Buffers in shared memory are nobody else's.
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
    const bool isHarmless =
        op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() || isMemoryEffectFree(op) || writesSharedAlone(op);
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
