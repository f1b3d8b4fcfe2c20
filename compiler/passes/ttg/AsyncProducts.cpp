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

/// The place among the loop's values of sums that go from a product straight to that of the next turn.
static std::optional<unsigned> carriedSums(ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  auto sums = dyn_cast<BlockArgument>(dot.getC());
  if (!sums || sums.getOwner() != loop.getBody() || !sums.hasOneUse() || !dot.getD().hasOneUse())
    return std::nullopt;
  OpOperand &use = *dot.getD().getUses().begin();
  if (use.getOwner() != loop.getBody()->getTerminator() || loop.getTiedLoopYieldedValue(sums) != &use)
    return std::nullopt;
  return use.getOperandNumber();
}

/// Products of 8-bit floats may be summed in runs, which are added as they end.
static bool isSummedAtOnce(ttng::WarpGroupDotOp dot) {
  const MemDescType right = dot.getB().getType();
  return right.getElementType().getIntOrFloatBitWidth() > 8 || isa<IntegerType>(right.getElementType()) ||
         dot.getMaxNumImpreciseAcc() >= right.getShape()[0];
}

namespace {
struct RunningProduct {
  ttng::WarpGroupDotOp dot;
  unsigned place;
};
} // namespace

static SmallVector<RunningProduct> findProducts(scf::ForOp loop, ArrayRef<Value> rings) {
  auto mayBeRead = [&](Value operand) {
    if (!isa<MemDescType>(operand.getType()))
      return false;
    Value buffer = unviewed(operand);
    return llvm::is_contained(rings, buffer) || loop.isDefinedOutsideOfLoop(buffer);
  };
  SmallVector<RunningProduct> products;
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>())
    if (auto place = carriedSums(dot, loop); place && mayBeRead(dot.getA()) && mayBeRead(dot.getB()) && isSummedAtOnce(dot))
      products.push_back({dot, *place});
  return products;
}

static ttng::WarpGroupDotWaitOp createWait(RewriterBase &rewriter, Location loc, ArrayRef<Value> inputs,
                                           unsigned pendings) {
  return ttng::WarpGroupDotWaitOp::create(rewriter, loc, ValueRange(inputs).getTypes(), inputs, pendings);
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
    loop.getBody()->getTerminator()->setOperand(product.place, wait.getResult(index));
    rewriter.replaceAllUsesExcept(loop.getResult(product.place), last.getResult(index), last);
  }
  return wait;
}
