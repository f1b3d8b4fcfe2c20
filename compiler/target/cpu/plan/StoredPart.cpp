// Finds which rows and columns of a dot's result are stored.
// SPDX-License-Identifier: MIT
//
// The tiles at the edges of a matrix reach beyond it: 777 x 1234 elements take 7 x 10 tiles of 128 x 128, a fifth more
// than they have. A dot multiplies only what is inside.
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class StoredPartSearch {
public:
  StoredPartSearch(AffineInfo &affineInfo, tt::DotOp dot) : affineInfo(affineInfo), dot(dot) {}
  StoredPart run();

private:
  bool follow(OpOperand &use);
  bool addStore(tt::StoreOp store);
  std::optional<Polynomial> boundOf(tt::StoreOp store, unsigned dim);
  bool isKnown(const Polynomial &poly);
  bool isSameInLoops(const std::optional<Polynomial> &bound);

  AffineInfo &affineInfo;
  tt::DotOp dot;
  llvm::SetVector<Value> values;           ///< whose elements depend on those of the result at the same index
  llvm::SmallPtrSet<Operation *, 4> loops; ///< that carry one of them
  std::optional<StoredPart> part;
};
} // namespace

/// Whether every factor is computed before the dot.
bool StoredPartSearch::isKnown(const Polynomial &poly) {
  return affineInfo.allScalars(poly, [&](Value value) {
    Operation *outer = value.getParentBlock()->findAncestorOpInBlock(*dot);
    return outer && (!value.getDefiningOp() || value.getDefiningOp()->isBeforeInBlock(outer));
  });
}

/// Whether the bound does not change in a loop that carries a result from one iteration to another: what an iteration
/// does not compute may be stored by a later one.
bool StoredPartSearch::isSameInLoops(const std::optional<Polynomial> &bound) {
  return bound && affineInfo.allScalars(*bound, [&](Value scalar) {
    Operation *owner = scalar.getParentBlock()->getParentOp();
    return llvm::none_of(loops, [&](Operation *loop) { return loop->isAncestor(owner); });
  });
}

/// The end of the rows or columns that the store's mask selects.
std::optional<Polynomial> StoredPartSearch::boundOf(tt::StoreOp store, unsigned dim) {
  if (!store.getMask())
    return std::nullopt;
  for (const Conjunct &condition : conjuncts(affineInfo, store.getMask(), identityMap(2)))
    if (condition.prefix && condition.prefix->dim == dim && !condition.prefix->mayWrap &&
        isKnown(condition.prefix->bound))
      return condition.prefix->bound;
  return std::nullopt;
}

/// Several stores have a bound in common where it is the same.
bool StoredPartSearch::addStore(tt::StoreOp store) {
  const StoredPart own{boundOf(store, 0), boundOf(store, 1)};
  if (!part)
    part = own;
  if (part->rows != own.rows)
    part->rows.reset();
  if (part->columns != own.columns)
    part->columns.reset();
  return part->rows || part->columns;
}

/// Follows a use to the values that it computes element by element; false where another use needs whole tiles.
bool StoredPartSearch::follow(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto store = dyn_cast<tt::StoreOp>(op))
    return use.get() == store.getValue() && use.get() != store.getMask() && addStore(store);
  if (auto product = dyn_cast<tt::DotOp>(op)) {
    values.insert(product.getD());
    return use.get() == product.getC() && product.getC() != product.getA() && product.getC() != product.getB();
  }
  auto loop = dyn_cast<scf::ForOp>(op);
  if (auto yield = dyn_cast<scf::YieldOp>(op); yield && !loop)
    loop = dyn_cast<scf::ForOp>(yield->getParentOp());
  if (loop) {
    const int64_t index = op == loop.getOperation()
                              ? static_cast<int64_t>(use.getOperandNumber()) - loop.getNumControlOperands()
                              : use.getOperandNumber();
    if (index < 0)
      return false;
    loops.insert(loop);
    values.insert(loop.getRegionIterArg(index));
    values.insert(loop.getResult(index));
    return true;
  }
  // The rest of a tile has any values: none may stop the program.
  const bool isDivision = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
  if (!isElementwise(op) || isDivision || op->getNumResults() != 1 || op->getNumRegions() || !isMemoryEffectFree(op))
    return false;
  values.insert(op->getResult(0));
  return true;
}

StoredPart StoredPartSearch::run() {
  constexpr unsigned most = 64;
  if (tt::shapeOf(dot.getType()).size() != 2)
    return {};
  values.insert(dot.getD());
  for (unsigned index = 0; index < values.size() && index < most; ++index)
    for (OpOperand &use : values[index].getUses())
      if (!follow(use))
        return {};
  if (values.size() > most || !part)
    return {};
  if (!isSameInLoops(part->rows))
    part->rows.reset();
  if (!isSameInLoops(part->columns))
    part->columns.reset();
  return *part;
}

StoredPart cpu::storedPart(AffineInfo &affineInfo, tt::DotOp dot) { return StoredPartSearch(affineInfo, dot).run(); }
