// Chooses which loads of a loop with `num_stages` prefetch the next iteration's data, and in which nest they do so.
// SPDX-License-Identifier: MIT
//
// A GPU keeps the loads of later iterations in flight while it computes. Here a dot prefetches the next iteration's
// tiles of what was read since the previous dot, a few cache lines for each register block. Where no dot follows, the
// last nest that reads a tile prefetches the next one: the first nests of an iteration wait for memory, the last ones
// compute. In the last iteration a dot prefetches the tile that is stored after the loop: lines that are not in a cache
// when they are written took 7 % of the time of a matmul of 1024. A load is prefetched only where its address moves by
// the same distance at each iteration, known before the loop.
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/target/cpu/emit/KernelEmitter.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/prepare/HoistScalars.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// The growth of a scalar of a loop's body per iteration, in bytes for pointers.
class LoopStride {
public:
  LoopStride(scf::ForOp loop, AffineInfo &affineInfo) : loop(loop), affineInfo(affineInfo) {}

  /// Nullopt where the growth is not known before the loop.
  std::optional<Poly> of(Value value, unsigned depth = 0) {
    if (value == loop.getInductionVar())
      return invariant(loop.getStep());
    if (loop.isDefinedOutsideOfLoop(value))
      return Poly();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getOwner() == loop.getBody() ? ofCarried(argument) : std::nullopt;
    Operation *op = value.getDefiningOp();
    if (depth > maxDepth)
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
      return ofMultiplication(op, *left, *right);
    return *left + *right * bytesOf(op);
  }

  /// The growth of the address or value of a tile's first element.
  std::optional<Poly> of(const AffineForm &form) {
    std::optional<Poly> sum = of(form.pointer);
    for (const Poly::Term &term : form.base.terms()) {
      Poly product = Poly::constant(term.coefficient);
      bool isMoving = false;
      for (SymbolId symbol : term.factors) {
        const std::optional<Poly> loopStride = of(affineInfo.valueOf(symbol));
        if (!loopStride || (isMoving && !loopStride->isZero()))
          return std::nullopt;
        isMoving |= !loopStride->isZero();
        product = product * (loopStride->isZero() ? Poly::symbol(symbol) : *loopStride);
      }
      if (isMoving && sum)
        sum = *sum + product;
    }
    return sum;
  }

private:
  static Poly bytesOf(Operation *addPtr) {
    const Type pointee = cast<tt::PointerType>(addPtr->getResult(0).getType()).getPointee();
    return Poly::constant(storageBytes(pointee));
  }

  /// The value, where it is known before the loop.
  std::optional<Poly> invariant(Value value) {
    const AffineForm *form = affineInfo.affine(value);
    if (!form)
      return std::nullopt;
    for (const Poly::Term &term : form->base.terms())
      for (SymbolId symbol : term.factors)
        if (!loop.isDefinedOutsideOfLoop(affineInfo.valueOf(symbol)))
          return std::nullopt;
    return form->base;
  }

  std::optional<Poly> ofCarried(BlockArgument argument) {
    Value value = loop.getTiedLoopYieldedValue(argument)->get();
    Poly total;
    for (unsigned depth = 0; value != argument; ++depth) {
      Operation *op = value.getDefiningOp();
      if (depth > maxDepth || !isa_and_nonnull<arith::AddIOp, tt::AddPtrOp>(op))
        return std::nullopt;
      const std::optional<Poly> step = invariant(op->getOperand(1));
      if (!step)
        return std::nullopt;
      total = total + (isa<tt::AddPtrOp>(op) ? *step * bytesOf(op) : *step);
      value = op->getOperand(0);
    }
    return total;
  }

  std::optional<Poly> ofMultiplication(Operation *op, const Poly &left, const Poly &right) {
    const bool isLeft = right.isZero();
    if (!isLeft && !left.isZero())
      return std::nullopt;
    const std::optional<Poly> factor = invariant(op->getOperand(isLeft ? 1 : 0));
    return factor ? std::optional((isLeft ? left : right) * *factor) : std::nullopt;
  }

  static constexpr unsigned maxDepth = 64;
  scf::ForOp loop;
  AffineInfo &affineInfo;
};
} // namespace

/// The last nest to read each load, among the nests directly in the loop's body.
static llvm::MapVector<Operation *, const Nest *> lastReaders(const LoopPlan &plan, AffineInfo &affineInfo,
                                                              const Step &step) {
  llvm::MapVector<Operation *, const Nest *> readers;
  for (const Step &inner : step.regions.front().steps) {
    if (inner.kind != StepKind::Nest)
      continue;
    ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
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

/// The dot after the nest in the loop's body; null for tiles whose rows are not contiguous.
static const TileDot *dotAfter(const Sequence &body, const Nest *nest, const AffineForm &form, int64_t size) {
  if (form.strides.size() != 2 ||
      llvm::none_of(form.strides, [&](const Poly &stride) { return stride.asConstant() == size; }))
    return nullptr;
  bool isAfter = false;
  for (const Step &step : body.steps) {
    isAfter |= step.nest.get() == nest;
    if (isAfter && step.dot) // an AMX dot is too short to hide prefetches
      return step.dot->form.usesTiles ? nullptr : step.dot.get();
  }
  return nullptr;
}

/// How many iterations' loads may be in flight: the loop's own `num_stages`, else the launch's for loops with dots.
static int64_t stagesOf(const Step &step, int64_t stagesOfDots) {
  if (auto stages = step.op->getAttrOfType<IntegerAttr>(tt::kNumStages))
    return stages.getInt();
  const bool hasDot = llvm::any_of(step.regions.front().steps, [](const Step &inner) { return inner.dot != nullptr; });
  return hasDot ? stagesOfDots : 1;
}

/// The first store after the loop of a tile with contiguous rows whose address is known before the loop.
static tt::StoreOp storeAfter(scf::ForOp loop, AffineInfo &affineInfo) {
  auto isKnown = [&](Value value) { return isDefinedBefore(value, loop); };
  auto isKnownSum = [&](const Poly &sum) {
    return llvm::all_of(sum.terms(), [&](const Poly::Term &term) {
      return llvm::all_of(term.factors, [&](SymbolId symbol) { return isKnown(affineInfo.valueOf(symbol)); });
    });
  };
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto store = dyn_cast<tt::StoreOp>(op);
    const AffineForm *form = store ? affineInfo.affine(store.getPtr()) : nullptr;
    if (!form || form->strides.size() != 2 || !form->pointer || !isKnown(form->pointer) || !isKnownSum(form->base) ||
        !llvm::all_of(form->strides, isKnownSum))
      continue;
    if (isContiguous(*form, 0, store.getPtr()) || isContiguous(*form, 1, store.getPtr()))
      return store;
  }
  return {};
}

void KernelEmitter::planPrefetches(const Step &step, llvm::Value *index, llvm::Value *upper, llvm::Value *stride) {
  auto loop = cast<scf::ForOp>(step.op);
  if (stagesOf(step, options.numStages) < 2)
    return;
  LoopStride loopStride(loop, affineInfo);
  llvm::Value *hasNext = nullptr;
  for (auto [load, nest] : lastReaders(plan, affineInfo, step)) {
    const AffineForm *form = affineInfo.assumed(cast<tt::LoadOp>(load).getPtr());
    if (!form || !loop->isAncestor(load))
      continue;
    const std::optional<Poly> distance = loopStride.of(AffineForm(*form));
    if (!distance || distance->isZero())
      continue;
    if (!hasNext) {
      llvm::Value *next = ir.CreateAdd(index, stride);
      hasNext = loop.getUnsignedCmp() ? ir.CreateICmpULT(next, upper) : ir.CreateICmpSLT(next, upper);
    }
    llvm::Value *bytes = ir.CreateSelect(hasNext, poly(*distance), ir.getInt64(0));
    const int64_t size = storageBytes(tt::elementOf(load->getResult(0).getType()));
    const AffineForm again = *affineInfo.assumed(cast<tt::LoadOp>(load).getPtr());
    if (const TileDot *dot = dotAfter(step.regions.front(), nest, again, size))
      dotPrefetches[dot].loads.emplace_back(load, bytes);
    else
      prefetches[{load, nest->id}] = bytes;
  }
  tt::StoreOp store = hasNext ? storeAfter(loop, affineInfo) : tt::StoreOp();
  for (const Step &inner : step.regions.front().steps)
    if (auto found = dotPrefetches.find(inner.dot.get()); store && inner.dot && found != dotPrefetches.end()) {
      found->second.store = store;
      found->second.isLast = ir.CreateNot(hasNext);
    }
}
