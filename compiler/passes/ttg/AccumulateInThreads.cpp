// Moves the cross-thread part of reductions that a loop accumulates after the loop.
//
//   for iter_args(%acc = %init)                      for iter_args(%own = neutral)
//     %r = reduce(%x, axis)                  ->        %r = reduce(%x's registers along the axis)
//     yield %acc + %r                                  yield %own + %r
//                                                    %sum = %init + reduce(%own, axis)
//
// Some of the axis's coordinate bits index registers and the others threads. A reshape and a transposition, which move
// nothing, put the former into a last dimension. The reduction over it stays in the thread, and its result takes no
// more registers than the original result, which all threads of a row held.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/Extents.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_ACCUMULATEINTHREADS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

/// The additional 32-bit registers of a thread that the accumulators of one loop may take.
static constexpr unsigned kExtraRegisters = 32;

namespace {
/// One loop-carried value, and the ops that add reductions to it, in order.
struct Accumulation {
  unsigned index = 0; ///< of the carried value
  SmallVector<Operation *> updates;
  SmallVector<tt::ReduceOp> reductions; ///< one for each sum
  TypedAttr neutral;
};

/// How one axis of a tile is distributed: extents of runs of coordinate bits, from the highest on.
struct AxisRuns {
  SmallVector<int64_t> extents;
  SmallVector<bool> isRegister;
};
} // namespace

//--- accumulations -------------------------------------------------------------------------

/// The combination of a reduction of one op and one operand; null for others.
static Operation *combinationOf(tt::ReduceOp reduce) {
  if (reduce.getSrcs().size() != 1 || reduce->hasAttr(tt::kExtents))
    return nullptr;
  return tt::singleCombination(reduce.getCombine().front());
}

/// The reduction that a value comes from, through layout conversions; each value on the way has one use.
static tt::ReduceOp reductionOf(Value value) {
  while (auto convert = value.hasOneUse() ? value.getDefiningOp<ConvertLayoutOp>() : ConvertLayoutOp())
    value = convert.getSrc();
  return value.hasOneUse() ? value.getDefiningOp<tt::ReduceOp>() : tt::ReduceOp();
}

/// Whether `sum` combines its left operand with a reduction of that combination; a difference subtracts sums.
static bool doesCombine(Operation *sum, Operation *combination) {
  if (sum->getName() == combination->getName())
    return true;
  return (isa<arith::SubFOp>(sum) && isa<arith::AddFOp>(combination)) ||
         (isa<arith::SubIOp>(sum) && isa<arith::AddIOp>(combination));
}

static bool isDifference(Operation *sum) { return isa<arith::SubFOp, arith::SubIOp>(sum); }

static std::optional<Accumulation> findAccumulation(scf::ForOp loop, unsigned index) {
  Accumulation accumulation{index, {}, {}, {}};
  Value carried = loop.getRegionIterArg(index), value = loop.getYieldedValues()[index];
  while (value != carried) {
    Operation *sum = value.hasOneUse() ? value.getDefiningOp() : nullptr;
    if (!sum || sum->getBlock() != loop.getBody() || sum->getNumOperands() != 2 || sum->getNumResults() != 1)
      return std::nullopt;
    tt::ReduceOp reduction = reductionOf(sum->getOperand(1));
    unsigned other = 0;
    if (!reduction && !isDifference(sum)) {
      reduction = reductionOf(sum->getOperand(0));
      other = 1;
    }
    if (!reduction || reduction->getBlock() != loop.getBody())
      return std::nullopt;
    Operation *combination = combinationOf(reduction);
    if (!combination || !doesCombine(sum, combination))
      return std::nullopt;
    if (!accumulation.updates.empty()) {
      tt::ReduceOp next = accumulation.reductions.front();
      const bool isSame = sum->getName() == accumulation.updates.front()->getName() &&
                          next.getAxis() == reduction.getAxis() &&
                          next.getSrcs().front().getType() == reduction.getSrcs().front().getType() &&
                          combinationOf(next)->getName() == combination->getName();
      if (!isSame)
        return std::nullopt;
    }
    accumulation.updates.insert(accumulation.updates.begin(), sum);
    accumulation.reductions.insert(accumulation.reductions.begin(), reduction);
    value = sum->getOperand(other);
  }
  if (accumulation.updates.empty() || !carried.hasOneUse())
    return std::nullopt;
  accumulation.neutral = tt::neutralElement(combinationOf(accumulation.reductions.front()));
  return accumulation.neutral ? std::optional(std::move(accumulation)) : std::nullopt;
}

//--- distribution --------------------------------------------------------------------------

/// The registers and threads along the axis; nothing where a basis has several bits, registers and threads share a bit,
/// or no thread bit lies along the axis.
static std::optional<AxisRuns> runsAlong(RankedTensorType type, unsigned axis) {
  const LinearLayout &layout = linearLayoutOf(type);
  const int64_t extent = type.getDimSize(axis);
  int64_t ofRegisters = 0, ofThreads = 0;
  for (StringRef input : layout.inputNames())
    for (unsigned bit = 0; bit < layout.inBits(input); ++bit) {
      const int64_t along = layout.basis(input, bit)[axis];
      if (along & (along - 1))
        return std::nullopt;
      (input == layout::kRegister ? ofRegisters : ofThreads) |= along;
    }
  if (ofThreads == 0 || (ofRegisters & ofThreads) || (ofRegisters | ofThreads) != extent - 1)
    return std::nullopt;
  AxisRuns runs;
  for (int64_t bit = extent / 2; bit > 0; bit /= 2) {
    const bool isRegister = ofRegisters & bit;
    if (runs.isRegister.empty() || runs.isRegister.back() != isRegister) {
      runs.isRegister.push_back(isRegister);
      runs.extents.push_back(1);
    }
    runs.extents.back() *= 2;
  }
  return runs;
}

static Value reshaped(OpBuilder &builder, Location loc, Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  LayoutEncoding encoding = inferReshaped(encodingOf(type), type.getShape(), shape);
  return encoding ? tt::ReshapeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType(), encoding),
                                          value, /*allow_reorder=*/false, /*efficient_layout=*/false)
                  : Value();
}

static Value transposed(OpBuilder &builder, Location loc, Value value, ArrayRef<int32_t> order) {
  if (llvm::equal(order, llvm::seq<int32_t>(0, order.size())))
    return value;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  for (int32_t dim : order)
    shape.push_back(type.getDimSize(dim));
  LayoutEncoding encoding = inferTransposed(encodingOf(type), type.getShape(), order);
  return encoding ? tt::TransOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType(), encoding),
                                        value, order)
                  : Value();
}

/// The tile with the axis's thread bits in the axis's dimension and its register bits as a last dimension; null where
/// no encoding describes that.
static Value withRegistersLast(OpBuilder &builder, Location loc, Value tile, unsigned axis, const AxisRuns &runs) {
  const ArrayRef<int64_t> shape = cast<RankedTensorType>(tile.getType()).getShape();
  SmallVector<int64_t> apart(shape.take_front(axis)), merged(shape);
  apart.append(runs.extents.begin(), runs.extents.end());
  apart.append(shape.begin() + axis + 1, shape.end());
  merged[axis] = 1;
  merged.push_back(1);
  SmallVector<int32_t> order, last;
  for (int32_t dim = 0; dim < int32_t(apart.size()); ++dim) {
    const unsigned run = dim - axis;
    const bool isOfAxis = dim >= int32_t(axis) && run < runs.extents.size();
    const bool isRegister = isOfAxis && runs.isRegister[run];
    (isRegister ? last : order).push_back(dim);
    if (isOfAxis)
      merged[isRegister ? merged.size() - 1 : axis] *= apart[dim];
  }
  order.append(last);
  Value value = reshaped(builder, loc, tile, apart);
  value = value ? transposed(builder, loc, value, order) : value;
  return value ? reshaped(builder, loc, value, merged) : value;
}

static Value reduced(OpBuilder &builder, tt::ReduceOp like, Value tile, unsigned axis) {
  auto reduce = tt::ReduceOp::create(builder, like.getLoc(), ValueRange(tile), axis);
  IRMapping mapping;
  like.getCombine().cloneInto(&reduce.getCombine(), mapping);
  return reduce->getResult(0);
}

/// A thread's part of the reduction's result; null where its elements are not in registers in that way.
static Value partOf(OpBuilder &builder, tt::ReduceOp reduction) {
  Value tile = reduction.getSrcs().front();
  const std::optional<AxisRuns> runs = runsAlong(cast<RankedTensorType>(tile.getType()), reduction.getAxis());
  if (!runs)
    return {};
  if (!llvm::is_contained(runs->isRegister, true))
    return tile;
  Value apart = withRegistersLast(builder, reduction.getLoc(), tile, reduction.getAxis(), *runs);
  return apart ? reduced(builder, reduction, apart, cast<RankedTensorType>(apart.getType()).getRank() - 1) : Value();
}

//--- the loop ------------------------------------------------------------------------------

static Value combined(OpBuilder &builder, Operation *like, Value a, Value b) {
  const Type type = isa<RankedTensorType>(a.getType()) ? a.getType() : b.getType();
  OperationState state(like->getLoc(), like->getName(), ValueRange{a, b}, type, like->getAttrs());
  return builder.create(state)->getResult(0);
}

static void eraseUnused(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !op->use_empty() || !isMemoryEffectFree(op))
    return;
  const SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    eraseUnused(operand);
}

static void rewrite(scf::ForOp loop, const Accumulation &accumulation, ArrayRef<Value> parts) {
  Operation *last = accumulation.updates.back();
  tt::ReduceOp reduction = accumulation.reductions.back();
  const bool isSecond = reductionOf(last->getOperand(1)) == reduction;
  BlockArgument carried = loop.getRegionIterArg(accumulation.index);
  Value init = loop.getInitArgs()[accumulation.index], result = loop.getResult(accumulation.index);
  auto type = cast<RankedTensorType>(parts.front().getType());
  const auto uses = llvm::map_to_vector(result.getUses(), [](OpOperand &use) { return &use; });

  OpBuilder builder(loop);
  const auto neutral = DenseElementsAttr::get(type, Attribute(accumulation.neutral));
  loop.getInitArgsMutable()[accumulation.index].set(arith::ConstantOp::create(builder, loop.getLoc(), neutral));
  carried.setType(type);
  result.setType(type);

  builder.setInsertionPointAfter(loop);
  Value across = reduced(builder, reduction, result, reduction.getAxis());
  if (Type asked = last->getOperand(isSecond).getType(); across.getType() != asked)
    across = ConvertLayoutOp::create(builder, across.getLoc(), asked, across);
  Value whole = combined(builder, last, isSecond ? init : across, isSecond ? across : init);
  for (OpOperand *use : uses)
    use->set(whole);

  Value sum = carried;
  for (auto [step, part] : llvm::zip_equal(accumulation.updates, parts)) {
    builder.setInsertionPoint(step);
    sum = combined(builder, combinationOf(reduction), sum, part);
    sum.setLoc(step->getLoc());
  }
  loop.getTiedLoopYieldedValue(carried)->set(sum);
  eraseUnused(last->getResult(0));
}

static unsigned accumulateInThreads(scf::ForOp loop) {
  unsigned extraRegisters = 0, count = 0;
  for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index) {
    const std::optional<Accumulation> accumulation = findAccumulation(loop, index);
    if (!accumulation)
      continue;
    SmallVector<Value> parts;
    for (tt::ReduceOp reduction : accumulation->reductions) {
      OpBuilder builder(reduction);
      parts.push_back(partOf(builder, reduction));
    }
    if (!parts.front())
      continue;
    const unsigned before = analysis::registersOf(loop.getRegionIterArg(index).getType());
    const unsigned after = analysis::registersOf(parts.front().getType());
    const unsigned extra = after > before ? after - before : 0;
    if (extraRegisters + extra > kExtraRegisters) {
      for (Value part : parts)
        eraseUnused(part);
      continue;
    }
    extraRegisters += extra;
    rewrite(loop, *accumulation, parts);
    ++count;
  }
  return count;
}

namespace {
struct AccumulateInThreads : ttg::impl::AccumulateInThreadsBase<AccumulateInThreads> {
  using AccumulateInThreadsBase::AccumulateInThreadsBase;

  void runOnOperation() final {
    // Inner loops first: the loops around them accumulate what they leave.
    getOperation().walk([&](scf::ForOp loop) { numAccumulated += accumulateInThreads(loop); });
  }
};
} // namespace
