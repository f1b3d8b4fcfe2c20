// Chooses which loads of a loop with `num_stages` fetch the next turn's data, and in which nest they do so.
// SPDX-License-Identifier: MIT
//
// A GPU keeps the loads of later turns in flight while it computes. Here the last nest
// that reads a tile asks for the tile of the next turn: the earlier nests of a turn wait
// for memory, the last ones compute. Only where the address moves by the same distance at
// each turn, which is known before the loop.
#include "compiler/target/cpu/Expressions.h"
#include "compiler/target/cpu/FunctionEmitter.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// How a scalar of a loop's body grows with the induction variable, in bytes for pointers.
class Growth {
public:
  Growth(scf::ForOp loop, TileFacts &facts) : loop(loop), facts(facts) {}

  /// Nothing where it is not linear, or where its slope is not known before the loop.
  std::optional<Poly> of(Value value, unsigned depth = 0) {
    if (value == loop.getInductionVar())
      return Poly::constant(1);
    if (loop.isDefinedOutsideOfLoop(value))
      return Poly();
    Operation *op = value.getDefiningOp();
    if (!op || depth > maxDepth)
      return std::nullopt;
    if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp>(op))
      return of(op->getOperand(0), depth + 1);
    if (!isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, tt::AddPtrOp>(op))
      return std::nullopt;
    const std::optional<Poly> left = of(op->getOperand(0), depth + 1), right = of(op->getOperand(1), depth + 1);
    if (!left || !right)
      return std::nullopt;
    if (isa<arith::AddIOp>(op))
      return *left + *right;
    if (isa<arith::SubIOp>(op))
      return *left - *right;
    if (isa<arith::MulIOp>(op))
      return ofProduct(op, *left, *right);
    const Type pointee = cast<tt::PointerType>(op->getResult(0).getType()).getPointee();
    return *left + *right * Poly::constant(storageBytes(pointee));
  }

private:
  std::optional<Poly> ofProduct(Operation *op, const Poly &left, const Poly &right) {
    const bool isLeft = right.isZero();
    Value factor = op->getOperand(isLeft ? 1 : 0);
    if ((!isLeft && !left.isZero()) || !loop.isDefinedOutsideOfLoop(factor))
      return std::nullopt;
    IntegerAttr constant;
    const Poly times = matchPattern(factor, m_Constant(&constant)) ? Poly::constant(constant.getInt())
                                                                   : Poly::leaf(facts.leafOf(factor));
    return (isLeft ? left : right) * times;
  }

  static constexpr unsigned maxDepth = 64;
  scf::ForOp loop;
  TileFacts &facts;
};
} // namespace

/// The nest that reads each load last, among those that stand in the loop's body itself.
static llvm::MapVector<Operation *, const Nest *> lastReaders(const LoopPlan &plan, TileFacts &facts, const Step &step) {
  llvm::MapVector<Operation *, const Nest *> readers;
  for (const Step &inner : step.regions.front().steps) {
    if (inner.kind != StepKind::Nest)
      continue;
    ExpressionWalk walk(facts, [&](Value value, const IndexMap &) {
      if (plan.bufferOf.contains(value))
        return false;
      if (value.getDefiningOp<tt::LoadOp>() && isa<RankedTensorType>(value.getType()))
        readers[value.getDefiningOp()] = inner.nest.get();
      return true;
    });
    for (const Root &root : inner.nest->roots)
      walk.root(root);
  }
  return readers;
}

void FunctionEmitter::planPrefetches(const Step &step, llvm::Value *index, llvm::Value *upper, llvm::Value *stride) {
  auto loop = cast<scf::ForOp>(step.op);
  auto stages = loop->getAttrOfType<IntegerAttr>("tt.num_stages");
  if (!stages || stages.getInt() < 2)
    return;
  Growth growth(loop, facts);
  llvm::Value *hasNext = nullptr;
  for (auto [load, nest] : lastReaders(plan, facts, step)) {
    const AffineForm *form = facts.affine(cast<tt::LoadOp>(load).getPtr());
    if (!form || !loop->isAncestor(load))
      continue;
    std::optional<Poly> slope = growth.of(form->pointer);
    for (const Poly::Term &term : form->base.terms())
      if (slope && !llvm::all_of(term.factors, [&](Leaf leaf) { return loop.isDefinedOutsideOfLoop(facts.valueOf(leaf)); }))
        slope.reset();
    if (!slope || slope->isZero())
      continue;
    if (!hasNext) {
      llvm::Value *next = ir.CreateAdd(index, stride);
      hasNext = loop.getUnsignedCmp() ? ir.CreateICmpULT(next, upper) : ir.CreateICmpSLT(next, upper);
    }
    llvm::Value *distance = ir.CreateMul(poly(*slope), ir.CreateSExt(stride, ir.getInt64Ty()));
    prefetches[{load, nest->id}] = ir.CreateSelect(hasNext, distance, ir.getInt64(0));
  }
}
