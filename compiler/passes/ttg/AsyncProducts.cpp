// Makes products by warp groups asynchronous across the turns of a loop.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/AsyncProducts.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// The buffer that a view is of.
static Value unviewed(Value buffer) {
  while (auto *view = buffer.getDefiningOp())
    if (isa<MemDescIndexOp, MemDescTransOp>(view))
      buffer = view->getOperand(0);
    else
      break;
  return buffer;
}

namespace {
struct RunningProduct {
  ttng::WarpGroupDotOp dot;
  unsigned place;  ///< of its sums among the loop's values
  scf::IfOp user;  ///< the one branch that uses the sums; may be null
};
} // namespace

/// The branch that uses a product's sums on one side and hands them on on both; null where that is not all.
static scf::IfOp onlyBranch(ttng::WarpGroupDotOp dot, Value handedOn) {
  auto branch = handedOn.getDefiningOp<scf::IfOp>();
  if (!branch || branch->getBlock() != dot->getBlock() || !handedOn.hasOneUse() || !branch.elseBlock())
    return {};
  const unsigned index = cast<OpResult>(handedOn).getResultNumber();
  const bool isHandedOn =
      branch.thenYield().getOperand(index) == dot.getD() && branch.elseYield().getOperand(index) == dot.getD();
  const bool isAll = llvm::all_of(dot.getD().getUsers(), [&](Operation *user) {
    return branch.getThenRegion().isAncestor(user->getParentRegion()) || user == branch.elseYield();
  });
  const bool isOnce = llvm::count(branch.elseYield().getOperands(), dot.getD()) == 1;
  return isHandedOn && isAll && isOnce ? branch : scf::IfOp();
}

/// The product, where its sums go straight to that of the next turn, or past a branch that may use them.
static std::optional<RunningProduct> carriedSums(ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  auto sums = dyn_cast<BlockArgument>(dot.getC());
  if (!sums || sums.getOwner() != loop.getBody() || !sums.hasOneUse())
    return std::nullopt;
  OpOperand &next = *loop.getTiedLoopYieldedValue(sums);
  const unsigned place = next.getOperandNumber();
  if (next.get() == dot.getD())
    return dot.getD().hasOneUse() ? std::optional(RunningProduct{dot, place, {}}) : std::nullopt;
  scf::IfOp user = onlyBranch(dot, next.get());
  return user ? std::optional(RunningProduct{dot, place, user}) : std::nullopt;
}

/// Products of 8-bit floats may be summed in runs, which are added as they end.
static bool isSummedAtOnce(ttng::WarpGroupDotOp dot) {
  const MemDescType right = dot.getB().getType();
  return right.getElementType().getIntOrFloatBitWidth() > 8 || isa<IntegerType>(right.getElementType()) ||
         dot.getMaxNumImpreciseAcc() >= right.getShape()[0];
}

static SmallVector<RunningProduct> findProducts(scf::ForOp loop, ArrayRef<Value> rings) {
  auto mayBeRead = [&](Value operand) {
    if (!isa<MemDescType>(operand.getType()))
      return false;
    Value buffer = unviewed(operand);
    return llvm::is_contained(rings, buffer) || loop.isDefinedOutsideOfLoop(buffer);
  };
  SmallVector<RunningProduct> products;
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>())
    if (auto product = carriedSums(dot, loop); product && mayBeRead(dot.getA()) && mayBeRead(dot.getB()) && isSummedAtOnce(dot))
      products.push_back(*product);
  return products;
}

static ttng::WarpGroupDotWaitOp createWait(RewriterBase &rewriter, Location loc, ArrayRef<Value> inputs,
                                           unsigned pendings) {
  return ttng::WarpGroupDotWaitOp::create(rewriter, loc, ValueRange(inputs).getTypes(), inputs, pendings);
}

/// A branch that uses sums waits for them first.
static void waitInBranch(RunningProduct &product, Value sums, RewriterBase &rewriter) {
  Block *block = product.user.thenBlock();
  rewriter.setInsertionPointToStart(block);
  auto wait = createWait(rewriter, product.dot.getLoc(), {sums}, 0);
  rewriter.replaceUsesWithIf(sums, wait.getResult(0), [&](OpOperand &use) {
    return use.getOwner() != wait && product.user.getThenRegion().isAncestor(use.getOwner()->getParentRegion());
  });
}

ttng::WarpGroupDotWaitOp ttg::letProductsRun(scf::ForOp loop, ArrayRef<Value> rings, RewriterBase &rewriter) {
  SmallVector<RunningProduct> products = findProducts(loop, rings);
  if (products.empty())
    return {};
  SmallVector<Value> inTurn, atEnd;
  for (RunningProduct &product : products) {
    product.dot->setAttr(product.dot.getIsAsyncAttrName(), rewriter.getBoolAttr(true));
    inTurn.push_back(product.dot.getD());
    atEnd.push_back(loop.getResult(product.place));
  }
  const Location loc = products.back().dot.getLoc();
  rewriter.setInsertionPointAfter(loop);
  llvm::append_range(atEnd, rings);
  ttng::WarpGroupDotWaitOp last = createWait(rewriter, loc, atEnd, 0);
  for (RunningProduct &product : products)
    inTurn.append({product.dot.getB(), product.dot.getA()});
  rewriter.setInsertionPointAfter(products.back().dot);
  ttng::WarpGroupDotWaitOp wait = createWait(rewriter, loc, inTurn, products.size());
  for (auto [index, product] : llvm::enumerate(products)) {
    rewriter.replaceAllUsesExcept(product.dot.getD(), wait.getResult(index), wait);
    if (product.user)
      waitInBranch(product, wait.getResult(index), rewriter);
    rewriter.replaceAllUsesExcept(loop.getResult(product.place), last.getResult(index), last);
  }
  return wait;
}
