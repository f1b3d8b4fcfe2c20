// Walks from pointers back to the arithmetic they are computed from.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/AddressSources.h"

#include "compiler/analysis/ValueFlow.h"
#include "compiler/passes/tt/LaneFlags.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

namespace {
/// Walks from offsets to the arithmetic they come from; tracks whether their users see them as signed.
struct OffsetWalk {
  struct Entry {
    Value value;
    bool isUnsigned;
  };
  SmallVector<Entry> waiting;
  DenseSet<std::pair<Value, unsigned>> seen;
  AddressArithmetic arithmetic;

  void push(ValueRange values, bool isUnsigned) {
    for (Value value : values)
      waiting.push_back({value, isUnsigned});
  }
  void visit(Entry entry);
  void visitOp(Operation *op, bool isUnsigned);
};
} // namespace

/// Offsets may pass through floats, as when an image is resampled.
static bool isFloatArithmetic(Operation *op) {
  return op->getNumResults() == 1 && op->hasTrait<OpTrait::Elementwise>() && !isa<arith::SelectOp>(op) &&
         isa<FloatType>(elementOf(op->getResult(0).getType()));
}

void OffsetWalk::visitOp(Operation *op, bool isUnsigned) {
  if (isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op) || isIntegerSum(op)) {
    auto [entry, isNew] = arithmetic.ops.insert({op, isUnsigned});
    entry->second &= isUnsigned;
    push(op->getOperands().take_front(isa<arith::ShLIOp>(op) ? 1 : op->getNumOperands()), isUnsigned);
  } else if (isa<ReduceOp, ScanOp>(op)) {
    push(op->getOperands(), isUnsigned);
  } else if (isa<arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp, arith::TruncIOp, math::AbsIOp>(op)) {
    push(op->getOperands(), isUnsigned);
  } else if (isa<arith::ExtUIOp, arith::UIToFPOp>(op)) {
    push(op->getOperands(), true);
  } else if (isa<arith::ExtSIOp, arith::SIToFPOp, arith::FPToSIOp, arith::FPToUIOp, arith::IndexCastOp>(op) ||
             isFloatArithmetic(op)) {
    push(op->getOperands(), false);
  } else if (isa<AddPtrOp>(op)) {
    push(op->getOperands().take_front(), isUnsigned);
    push(op->getOperands().drop_front(), false);
  } else if (isa<arith::RemSIOp, arith::DivSIOp>(op)) {
    push(op->getOperands().take_front(), isUnsigned);
  } else {
    push(elementSources(op), isUnsigned);
  }
}

void OffsetWalk::visit(Entry entry) {
  if (!seen.insert({entry.value, entry.isUnsigned}).second)
    return;
  arithmetic.values.insert(entry.value);
  push(analysis::forwardedTo(entry.value), entry.isUnsigned);
  if (Operation *op = entry.value.getDefiningOp())
    visitOp(op, entry.isUnsigned);
}

AddressArithmetic tt::addressArithmetic(FuncOp kernel) {
  OffsetWalk walk;
  kernel.walk([&](Operation *op) {
    if (auto access = dyn_cast<MemoryAccessOpInterface>(op))
      walk.push(access.getAccessedPointer(), false);
  });
  while (!walk.waiting.empty())
    walk.visit(walk.waiting.pop_back_val());
  walk.arithmetic.ops.remove_if([](const auto &entry) {
    const Type element = elementOf(entry.first->getResult(0).getType());
    return !isa<IntegerType>(element) || element.isInteger(1);
  });
  return std::move(walk.arithmetic);
}
