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

/// Whether this is an atomic addition of a constant that is not zero, as of programs that take work from a queue: its
/// loop goes on by itself.
static bool alwaysChanges(Operation *op) {
  auto add = dyn_cast<tt::AtomicRMWOp>(op);
  if (!add || (add.getAtomicRmwOp() != tt::RMWOp::ADD && add.getAtomicRmwOp() != tt::RMWOp::FADD))
    return false;
  Attribute value;
  return matchPattern(add.getVal(), m_Constant(&value)) && !matchPattern(add.getVal(), m_Zero()) &&
         !matchPattern(add.getVal(), m_AnyZeroFloat());
}

namespace {
/// Whether another program may change what an op reads from one iteration to the next.
enum class Polled { No, Perhaps, Surely };
} // namespace

/// Whether the op polls memory. A plain load from the same address may read a bound that nobody changes.
static Polled polled(Operation *op, scf::WhileOp loop) {
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  if (!access || !access.readsMemory())
    return Polled::No;
  if (access.isAtomic())
    return alwaysChanges(op) ? Polled::No : Polled::Surely;
  auto load = dyn_cast<tt::LoadOp>(op);
  if (!load)
    return Polled::No;
  return load.getIsVolatile() ? Polled::Surely : isInvariant(load.getPtr(), loop) ? Polled::Perhaps : Polled::No;
}

namespace {
/// What a value inside the loop is computed from, up to what is polled.
class Sources {
public:
  Sources(scf::WhileOp loop, Value value) : loop(loop) {
    values.insert(value);
    for (size_t index = 0; index < values.size(); ++index)
      visit(values[index]);
  }

  Polled polled = Polled::No;
  llvm::SetVector<Value> values;

private:
  void add(ValueRange more) { values.insert(more.begin(), more.end()); }
  void visit(Value value) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return visitArgument(cast<BlockArgument>(value));
    if (!loop->isProperAncestor(op))
      return;
    if (const Polled kind = ::polled(op, loop); kind != Polled::No) {
      polled = std::max(polled, kind);
      return;
    }
    add(op->getOperands());
    visitRegions(op);
  }
  void visitRegions(Operation *op) {
    if (op->getNumRegions() == 0)
      return;
    op->walk([&](Operation *inner) {
      add(inner->getOperands());
      if (inner != op)
        polled = std::max(polled, ::polled(inner, loop));
    });
  }
  /// What a loop carries comes from its entry and its last iteration.
  void visitArgument(BlockArgument argument) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (parent == loop)
      return add(carriedTo(argument));
    if (!loop->isProperAncestor(parent))
      return;
    add(parent->getOperands());
    visitRegions(parent);
  }
  Value carriedTo(BlockArgument argument) {
    const bool isBefore = argument.getOwner() == loop.getBeforeBody();
    return isBefore ? loop.getYieldOp().getResults()[argument.getArgNumber()]
                    : loop.getConditionOp().getArgs()[argument.getArgNumber()];
  }

  scf::WhileOp loop;
};
} // namespace

/// The value that the last iteration gave an argument of the loop, past arguments that only hand it on.
static Value lastOf(BlockArgument argument, scf::WhileOp loop) {
  Value value = loop.getYieldOp().getResults()[argument.getArgNumber()];
  auto handedOn = dyn_cast<BlockArgument>(value);
  if (handedOn && handedOn.getOwner() == loop.getAfterBody())
    value = loop.getConditionOp().getArgs()[handedOn.getArgNumber()];
  return value;
}

/// Whether the loop computes an argument from its own last value, as a counter: it ends without other programs. Flags
/// say how an iteration was left.
static bool advances(BlockArgument argument, scf::WhileOp loop) {
  const Value last = lastOf(argument, loop);
  return !argument.getType().isInteger(1) && last != argument && Sources(loop, last).values.contains(argument);
}

static bool counts(const Sources &sources, scf::WhileOp loop) {
  return llvm::any_of(sources.values, [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && argument.getOwner() == loop.getBeforeBody() && advances(argument, loop);
  });
}

/// Whether the loop only waits: it stores nothing, multiplies nothing and adds nothing to memory.
static bool onlyPolls(scf::WhileOp loop) {
  const WalkResult result = loop->walk([](Operation *op) {
    auto add = dyn_cast<tt::AtomicRMWOp>(op);
    const bool adds = add && (add.getAtomicRmwOp() == tt::RMWOp::ADD || add.getAtomicRmwOp() == tt::RMWOp::FADD) &&
                      !matchPattern(add.getVal(), m_Zero()) && !matchPattern(add.getVal(), m_AnyZeroFloat());
    return adds || isa<tt::StoreOp, tt::DotOpInterface>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

std::optional<cpu::WaitKind> cpu::waitKind(scf::WhileOp loop) {
  const Sources sources(loop, loop.getConditionOp().getCondition());
  const bool isCounted = counts(sources, loop);
  if (sources.polled == Polled::No || (sources.polled == Polled::Perhaps && isCounted))
    return std::nullopt;
  return isCounted ? WaitKind::Counts : onlyPolls(loop) ? WaitKind::Polls : WaitKind::Works;
}
