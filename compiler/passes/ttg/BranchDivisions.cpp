// Branches around divisions of scalars whose usual result needs none: a division takes about 160 cycles on a GPU, and
// programs start with several that depend on each other.
//
//   %n = arith.minsi %x, 8            ->   %q = scf.if %n == 8 { %a / 8 } else { %a / %n }
//   %q = arith.divsi %a, %n
//   %r = arith.remsi %a, %n           ->   %r = scf.if 0 <= %a < %n { %a } else { %a % %n }, where nothing else
//                                          divides %a by %n
//
// The first is how programs are grouped for reuse in L2, all groups but the last being full; the second is how tiles
// wrap around at the end of an array. In loops branches stay away from what tensor cores have in flight.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/MapVector.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_BRANCHDIVISIONS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;

namespace {
/// The divisions of one block with the same operands, in their order.
using Divisions = SmallVector<Operation *, 2>;
} // namespace

/// The power of two that a divisor is at most, and usually is; 0 where there is none.
static int64_t usualDivisor(Value divisor) {
  auto least = divisor.getDefiningOp<arith::MinSIOp>();
  APInt limit;
  const bool isLimited = least && (matchPattern(least.getLhs(), m_ConstantInt(&limit)) ||
                                   matchPattern(least.getRhs(), m_ConstantInt(&limit)));
  return isLimited && limit.isStrictlyPositive() && limit.isPowerOf2() ? limit.getSExtValue() : 0;
}

/// The divisions with another divisor, whose results are yielded.
static void yieldDivisions(OpBuilder builder, ArrayRef<Operation *> divisions, Value divisor) {
  SmallVector<Value> results;
  for (Operation *division : divisions) {
    Operation *copy = builder.clone(*division);
    copy->setOperand(1, divisor);
    results.push_back(copy->getResult(0));
  }
  scf::YieldOp::create(builder, divisions.front()->getLoc(), results);
}

static void branch(ArrayRef<Operation *> divisions) {
  Operation *first = divisions.front();
  const Location loc = first->getLoc();
  Value dividend = first->getOperand(0), divisor = first->getOperand(1);
  OpBuilder builder(first);
  const auto compare = [&](arith::CmpIPredicate predicate, Value a, Value b) -> Value {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  };
  const auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(builder, loc, divisor.getType(), value);
  };
  Value condition, usual;
  if (const int64_t number = usualDivisor(divisor)) {
    usual = constant(number);
    condition = compare(arith::CmpIPredicate::eq, divisor, usual);
  } else if (divisions.size() == 1 && isa<arith::RemSIOp>(first) && !matchPattern(divisor, m_Constant())) {
    Value isBelow = compare(arith::CmpIPredicate::ult, dividend, divisor);
    Value isPositive = compare(arith::CmpIPredicate::sgt, divisor, constant(0));
    condition = arith::AndIOp::create(builder, loc, isBelow, isPositive);
  } else {
    return;
  }
  const SmallVector<Type> types(divisions.size(), divisor.getType());
  auto choice = scf::IfOp::create(builder, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
  OpBuilder whereUsual = choice.getThenBodyBuilder();
  if (usual)
    yieldDivisions(whereUsual, divisions, usual);
  else
    scf::YieldOp::create(whereUsual, loc, dividend);
  yieldDivisions(choice.getElseBodyBuilder(), divisions, divisor);
  for (auto [division, result] : llvm::zip_equal(divisions, choice.getResults())) {
    division->getResult(0).replaceAllUsesWith(result);
    division->erase();
  }
}

namespace {
struct BranchDivisions : ttg::impl::BranchDivisionsBase<BranchDivisions> {
  void runOnOperation() final {
    llvm::MapVector<std::tuple<Block *, Value, Value>, Divisions> groups;
    getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<LoopLikeOpInterface>(op))
        return WalkResult::skip();
      if (isa<arith::DivSIOp, arith::RemSIOp>(op) && op->getResult(0).getType().isInteger(32))
        groups[{op->getBlock(), op->getOperand(0), op->getOperand(1)}].push_back(op);
      return WalkResult::advance();
    });
    // Results of some are operands of others, which refer to them by their ops alone from here on.
    for (auto &[operands, divisions] : groups)
      branch(divisions);
  }
};
} // namespace
