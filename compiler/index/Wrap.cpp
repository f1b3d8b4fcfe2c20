// Follows numbers to the pointers that they are offsets of, and back to the sums that they are made of.
// SPDX-License-Identifier: MIT
#include "compiler/index/Wrap.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;

/// Longer ways are not followed: nothing is assumed of such a number.
static constexpr unsigned kMostValues = 64;

static bool isSum(Operation *op) { return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op); }

static bool movesOneTile(Operation *op) { return isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() == 1; }

/// Whether a number is made of large multiples of tiles, as hashes and random numbers are, which are meant to overflow.
static bool isHash(Value number) {
  constexpr int64_t leastFactor = 1 << 16;
  llvm::SmallSetVector<Value, 16> values;
  values.insert(number);
  for (unsigned next = 0; next < values.size() && next < kMostValues; ++next) {
    Operation *op = values[next].getDefiningOp();
    if (!op || !isa<RankedTensorType>(values[next].getType()))
      continue;
    APInt factor;
    if (isa<arith::MulIOp>(op) && llvm::any_of(op->getOperands(), [&](Value operand) {
          return matchPattern(operand, m_ConstantInt(&factor)) && factor.abs().uge(leastFactor);
        }))
      return true;
    if (isSum(op) || movesOneTile(op) || isa<arith::DivSIOp, arith::RemSIOp, arith::ExtSIOp>(op))
      values.insert_range(op->getOperands());
  }
  return false;
}

/// Adds what the number becomes by its use.
static void follow(OpOperand &use, llvm::SmallSetVector<Value, 16> &values) {
  Operation *user = use.getOwner(), *outer = user->getParentOp();
  const bool isQuotient = isa<arith::DivSIOp, arith::RemSIOp>(user);
  if (isSum(user) || movesOneTile(user) || isa<arith::ExtSIOp>(user) || (isQuotient && !isHash(use.get()))) {
    values.insert_range(user->getResults());
  } else if (auto loop = dyn_cast<scf::ForOp>(user)) {
    if (BlockArgument carried = loop.getTiedLoopRegionIterArg(&use))
      values.insert(carried);
  } else if (isa<scf::YieldOp>(user) && isa<scf::ForOp, scf::IfOp>(outer)) {
    values.insert(outer->getResult(use.getOperandNumber()));
    if (auto around = dyn_cast<scf::ForOp>(outer))
      values.insert(around.getRegionIterArg(use.getOperandNumber()));
  }
}

bool index::isOffset(Value number) {
  llvm::SmallSetVector<Value, 16> values;
  values.insert(number);
  for (unsigned next = 0; next < values.size() && next < kMostValues; ++next)
    for (OpOperand &use : values[next].getUses()) {
      if (isa<tt::AddPtrOp>(use.getOwner()))
        return true;
      follow(use, values);
    }
  return false;
}

SmallVector<Value, 2> index::sumsThatMayWrap(Value number) {
  SmallVector<Value, 2> sums;
  llvm::SmallSetVector<std::pair<Value, unsigned>, 16> values; // with 1 for the last ones in their type
  values.insert({number, 1});
  for (unsigned next = 0; next < values.size(); ++next) {
    auto [value, isLast] = values[next];
    Operation *op = value.getDefiningOp();
    if (!op || !isa<RankedTensorType>(value.getType()))
      continue;
    if (isSum(op)) {
      if (isLast && !isOffset(value))
        sums.push_back(value);
      for (Value operand : op->getOperands())
        values.insert({operand, 0});
    } else if (movesOneTile(op)) {
      values.insert({op->getOperand(0), isLast});
    } else if (isa<arith::ExtSIOp>(op)) {
      values.insert({op->getOperand(0), 1});
    }
  }
  return sums;
}
