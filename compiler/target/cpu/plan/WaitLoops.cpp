// Follows the condition of a loop back to what it reads from memory.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/WaitLoops.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;

/// Whether the value is the same at each iteration: it is computed outside, or inside from such values alone.
static bool isInvariant(Value value, scf::WhileOp loop, unsigned depth = 0) {
  Operation *op = value.getDefiningOp();
  Operation *parent = op ? op->getParentOp() : value.getParentBlock()->getParentOp();
  if (!loop->isAncestor(parent))
    return true;
  constexpr unsigned kMostSteps = 16;
  return op && depth < kMostSteps && op->getNumRegions() == 0 && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isInvariant(operand, loop, depth + 1); });
}

/// Whether another program may change what the op reads from one iteration to the next.
static bool isPolled(Operation *op, scf::WhileOp loop) {
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  if (!access || !access.readsMemory())
    return false;
  if (access.isAtomic())
    return true;
  auto load = dyn_cast<tt::LoadOp>(op);
  return load && (load.getIsVolatile() || isInvariant(load.getPtr(), loop));
}

namespace {
/// What a value inside the loop is computed from.
class Sources {
public:
  explicit Sources(scf::WhileOp loop) : loop(loop) {}

  void add(Value value) { values.insert(value); }
  bool havePolled() {
    for (size_t index = 0; index < values.size(); ++index)
      if (visit(values[index]))
        return true;
    return false;
  }

private:
  void add(ValueRange more) { values.insert(more.begin(), more.end()); }
  bool visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return visitArgument(cast<BlockArgument>(value));
    if (!loop->isProperAncestor(op))
      return false;
    if (isPolled(op, loop))
      return true;
    add(op->getOperands());
    return visitRegions(op);
  }
  bool visitRegions(Operation *op) {
    const WalkResult result = op->walk([&](Operation *inner) {
      add(inner->getOperands());
      return inner != op && isPolled(inner, loop) ? WalkResult::interrupt() : WalkResult::advance();
    });
    return op->getNumRegions() && result.wasInterrupted();
  }
  /// What a loop carries comes from its entry and its last iteration.
  bool visitArgument(BlockArgument argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent != loop) {
      if (!loop->isProperAncestor(parent))
        return false;
      add(parent->getOperands());
      return visitRegions(parent);
    }
    const bool isBefore = argument.getOwner() == loop.getBeforeBody();
    add(isBefore ? loop.getYieldOp().getResults()[argument.getArgNumber()]
                 : loop.getConditionOp().getArgs()[argument.getArgNumber()]);
    return false;
  }

  scf::WhileOp loop;
  llvm::SetVector<Value> values;
};
} // namespace

bool cpu::mayWait(scf::WhileOp loop) {
  Sources sources(loop);
  sources.add(loop.getConditionOp().getCondition());
  return sources.havePolled();
}

bool cpu::onlyPolls(scf::WhileOp loop) {
  const WalkResult result = loop->walk([](Operation *op) {
    auto add = dyn_cast<tt::AtomicRMWOp>(op);
    const bool adds = add && (add.getAtomicRmwOp() == tt::RMWOp::ADD || add.getAtomicRmwOp() == tt::RMWOp::FADD) &&
                      !matchPattern(add.getVal(), m_Zero()) && !matchPattern(add.getVal(), m_AnyZeroFloat());
    return adds || isa<tt::StoreOp, tt::DotOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}
