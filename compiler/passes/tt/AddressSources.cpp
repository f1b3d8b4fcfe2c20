// Walks from pointers back to the values they are computed from.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/AddressSources.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

Value tt::accessedPointer(Operation *op) {
  return isa<LoadOp, StoreOp, AtomicRMWOp, AtomicCASOp, AtomicLoadOp, AtomicStoreOp>(op) ? op->getOperand(0) : Value();
}

Value tt::accessMask(Operation *op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getMask();
  if (auto store = dyn_cast<StoreOp>(op))
    return store.getMask();
  if (auto load = dyn_cast<AtomicLoadOp>(op))
    return load.getMask();
  if (auto store = dyn_cast<AtomicStoreOp>(op))
    return store.getMask();
  auto atomic = dyn_cast<AtomicRMWOp>(op);
  return atomic ? atomic.getMask() : Value();
}

/// The values that a loop or a branch yields as its result `index`.
static void addYielded(Operation *op, unsigned index, SmallVectorImpl<Value> &values) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    values.push_back(loop.getInitArgs()[index]);
    values.push_back(loop.getYieldedValues()[index]);
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    values.push_back(loop.getConditionOp().getArgs()[index]);
    return;
  }
  for (Region &region : op->getRegions())
    if (!region.empty())
      values.push_back(region.front().getTerminator()->getOperand(index));
}

/// Adds the values that control flow may forward to `value`; false where `value` does not come from control flow.
static bool addIncoming(Value value, SmallVectorImpl<Value> &values) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    const unsigned index = argument.getArgNumber();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (index > 0)
        addYielded(loop, index - 1, values);
      return true;
    }
    auto loop = dyn_cast<scf::WhileOp>(parent);
    if (!loop)
      return false;
    if (argument.getOwner() == loop.getAfterBody()) {
      addYielded(loop, index, values);
    } else {
      values.push_back(loop.getInits()[index]);
      values.push_back(loop.getYieldOp().getOperand(index));
    }
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (!isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op))
    return false;
  addYielded(op, cast<OpResult>(value).getResultNumber(), values);
  return true;
}

/// Ops that only move elements.
static bool movesElements(Operation *op) {
  return isa<SplatOp, UnsplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, JoinOp, SplitOp, CatOp>(op);
}

//--- pointers ------------------------------------------------------------------------------

PointerSources tt::sourcesOf(Value pointer) {
  PointerSources sources;
  SmallVector<Value> waiting{pointer};
  DenseSet<Value> seen;
  while (!waiting.empty()) {
    Value value = waiting.pop_back_val();
    if (!seen.insert(value).second || addIncoming(value, waiting))
      continue;
    Operation *op = value.getDefiningOp();
    if (!op && isa<FuncOp>(value.getParentBlock()->getParentOp()))
      sources.arguments.insert(cast<BlockArgument>(value).getArgNumber());
    else if (op && movesElements(op))
      llvm::append_range(waiting, op->getOperands());
    else if (isa_and_nonnull<AddPtrOp, BitcastOp, GatherOp>(op))
      waiting.push_back(op->getOperand(0));
    else if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      waiting.append({select.getTrueValue(), select.getFalseValue()});
    else if (!isa_and_nonnull<ub::PoisonOp>(op))
      sources.hasOthers = true;
  }
  return sources;
}

//--- integers ------------------------------------------------------------------------------

namespace {
/// Walks from offsets to the arithmetic they come from; tracks whether their users see them as signed.
struct OffsetWalk {
  struct Entry {
    Value value;
    bool isUnsigned;
  };
  SmallVector<Entry> waiting;
  DenseSet<std::pair<Value, unsigned>> seen;
  AddressArithmetic found;

  void push(ValueRange values, bool isUnsigned) {
    for (Value value : values)
      waiting.push_back({value, isUnsigned});
  }
  void visit(Entry entry);
  void visitOp(Operation *op, bool isUnsigned);
};
} // namespace

void OffsetWalk::visitOp(Operation *op, bool isUnsigned) {
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op)) {
    auto [entry, isNew] = found.ops.insert({op, isUnsigned});
    entry->second &= isUnsigned;
    push(op->getOperands(), isUnsigned);
  } else if (movesElements(op) || isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op)) {
    push(op->getOperands(), isUnsigned);
  } else if (isa<arith::ExtUIOp>(op)) {
    push(op->getOperands(), true);
  } else if (isa<arith::ExtSIOp>(op)) {
    push(op->getOperands(), false);
  } else if (isa<AddPtrOp>(op)) {
    push(op->getOperands().take_front(), isUnsigned);
    push(op->getOperands().drop_front(), false);
  } else if (isa<arith::SelectOp>(op)) {
    push(op->getOperands().drop_front(), isUnsigned);
  } else if (isa<arith::RemSIOp, arith::DivSIOp, GatherOp>(op)) {
    push(op->getOperands().take_front(), isUnsigned);
  }
}

void OffsetWalk::visit(Entry entry) {
  if (!seen.insert({entry.value, entry.isUnsigned}).second)
    return;
  found.values.insert(entry.value);
  SmallVector<Value> incoming;
  if (addIncoming(entry.value, incoming))
    return push(incoming, entry.isUnsigned);
  if (Operation *op = entry.value.getDefiningOp())
    visitOp(op, entry.isUnsigned);
}

AddressArithmetic tt::addressArithmetic(FuncOp kernel) {
  OffsetWalk walk;
  kernel.walk([&](Operation *op) {
    if (Value pointer = accessedPointer(op))
      walk.push(pointer, false);
  });
  while (!walk.waiting.empty())
    walk.visit(walk.waiting.pop_back_val());
  walk.found.ops.remove_if(
      [](const auto &entry) { return elementOf(entry.first->getResult(0).getType()).isInteger(1); });
  return std::move(walk.found);
}
