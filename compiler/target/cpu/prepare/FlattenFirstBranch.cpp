// Replaces a branch that sets the values of a loop's first iteration by a choice between values.
// SPDX-License-Identifier: MIT
//
//   for %i = %lower ... {                           for %i = %lower ... {
//     %isFirst = %i == %lower                         %isFirst = %i == %lower
//     %r = if %isFirst { %x } else { %f }      ->     %r = select %isFirst, %x, %f
//
// The results of a branch are tiles in buffers; what follows it reads them again in a loop of its own. The choice is
// part of the loop that computes `%f`. In the first iteration `%f` is computed in vain.
#include "compiler/target/cpu/prepare/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_FLATTENFIRSTBRANCH
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;

/// Whether the branch is taken, or not taken, in the first iteration of the loop that it is in, and in no other.
static std::optional<bool> takenFirst(scf::IfOp branch) {
  auto loop = dyn_cast<scf::ForOp>(branch->getParentOp());
  auto compare = branch.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!loop || !compare)
    return std::nullopt;
  Value left = compare.getLhs(), right = compare.getRhs();
  if (left != loop.getInductionVar())
    std::swap(left, right);
  if (left != loop.getInductionVar() || right != loop.getLowerBound())
    return std::nullopt;
  if (compare.getPredicate() == arith::CmpIPredicate::eq)
    return true;
  if (compare.getPredicate() == arith::CmpIPredicate::ne)
    return false;
  return std::nullopt;
}

static bool isElementwise(Operation &op) {
  return op.getNumRegions() == 0 && isPure(&op) && (OpTrait::hasElementwiseMappableTraits(&op) || isa<tt::SplatOp>(op));
}

/// Whether the values for the first iteration, which each iteration will have computed, cost next to nothing.
static bool isCheap(Block &values) {
  constexpr unsigned most = 4;
  return llvm::range_size(values.without_terminator()) <= most && llvm::none_of(values, [](Operation &op) {
           return isa<arith::DivFOp, arith::RemFOp>(op) || op.getDialect()->getNamespace() == "math";
         });
}

static void flatten(scf::IfOp branch) {
  IRRewriter rewriter(branch);
  auto inlineBefore = [&](Block &block) {
    SmallVector<Value> values(block.getTerminator()->getOperands());
    rewriter.eraseOp(block.getTerminator());
    rewriter.inlineBlockBefore(&block, branch);
    return values;
  };
  const SmallVector<Value> ifTrue = inlineBefore(*branch.thenBlock()), ifFalse = inlineBefore(*branch.elseBlock());
  SmallVector<Value> chosen;
  for (auto [left, right] : llvm::zip_equal(ifTrue, ifFalse))
    chosen.push_back(arith::SelectOp::create(rewriter, branch.getLoc(), branch.getCondition(), left, right));
  rewriter.replaceOp(branch, chosen);
}

namespace {
struct FlattenFirstBranch : cpu::impl::FlattenFirstBranchBase<FlattenFirstBranch> {
  void runOnOperation() override {
    SmallVector<scf::IfOp> branches;
    getOperation()->walk([&](scf::IfOp branch) {
      const std::optional<bool> isFirst = takenFirst(branch);
      if (!isFirst || !branch.elseBlock() ||
          llvm::none_of(branch.getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }))
        return;
      if (llvm::all_of(*branch.thenBlock(), isElementwiseOrEnd) &&
          llvm::all_of(*branch.elseBlock(), isElementwiseOrEnd) &&
          isCheap(*isFirst ? *branch.thenBlock() : *branch.elseBlock()))
        branches.push_back(branch);
    });
    for (scf::IfOp branch : branches)
      flatten(branch);
  }

private:
  static bool isElementwiseOrEnd(Operation &op) { return isa<scf::YieldOp>(op) || isElementwise(op); }
};
} // namespace
