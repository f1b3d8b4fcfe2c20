// Computes the axis info of ranges, splats, shape ops, pointers and hints; AxisArithmetic.cpp has arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisRules.h"
#include "compiler/index/Wrap.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

/// For pointers, bytes between adjacent elements in memory; 1 for other types.
static int64_t unitOf(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(tt::elementOf(type));
  if (!pointer)
    return 1;
  const Type pointee = pointer.getPointee();
  return tt::storageBytes(pointee);
}

AxisInfo index::unknownInfo(Type type) {
  AxisInfo info;
  info.dims.resize(std::max<size_t>(1, tt::shapeOf(type).size()));
  info.unit = unitOf(type);
  info.range = IntegerRange::whole(type);
  return info;
}

/// A tile of `type` that repeats a scalar.
static AxisInfo repeated(const AxisInfo &scalar, Type type) {
  AxisInfo info = unknownInfo(type);
  for (auto [dim, extent] : llvm::zip_equal(info.dims, tt::shapeOf(type)))
    dim = {powerOfTwoIn(extent), 0, scalar.dims[0].divisibility};
  return info;
}

static AxisInfo constantInfo(arith::ConstantOp op) {
  const Type type = op.getType();
  Attribute value = op.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(value))
    value = splat.getSplatValue<Attribute>();
  AxisInfo scalar;
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    scalar.dims[0].divisibility = powerOfTwoIn(number.getValue().getSExtValue());
  } else if (!isa<FloatAttr>(value)) {
    return unknownInfo(type);
  }
  return isa<RankedTensorType>(type) ? repeated(scalar, type) : scalar;
}

static AxisInfo rangeInfo(tt::MakeRangeOp op) {
  AxisInfo info;
  info.setGroup(0, powerOfTwoIn(op.getType().getDimSize(0)), 1);
  info.dims[0].divisibility = powerOfTwoIn(static_cast<int32_t>(op.getStart()));
  return info;
}

/// The same elements at other coordinates: dimensions that the source lacks repeat it. A reshape keeps their row-major
/// order, so that groups along the last dimension survive up to its new extent.
static AxisInfo movedInfo(Operation *op, const AxisInfo &source) {
  using Kind = tt::ElementIndex::Kind;
  const Type type = op->getResult(0).getType();
  AxisInfo info = unknownInfo(type);
  auto reshape = dyn_cast<tt::ReshapeOp>(op);
  for (auto [dim, extent] : llvm::zip(info.dims, tt::shapeOf(type)))
    dim = {reshape ? 1 : powerOfTwoIn(extent), 0, source.elementDivisibility()};
  if (reshape && reshape.getAllowReorder())
    return info;
  const unsigned innermost = info.dims.size() - 1;
  for (auto [from, index] : llvm::enumerate(*tt::elementMapOf(op, 0))) {
    if (index.kind == Kind::ResultDim) {
      info.dims[index.number] = source.dims[from];
    } else if (index.kind == Kind::Unknown && from + 1 == source.dims.size()) {
      const int64_t size = std::min(source.dims[from].group, powerOfTwoIn(tt::shapeOf(type).back()));
      info.setGroup(innermost, size, source.dims[from].step);
      info.dims[innermost].divisibility = source.divisibilityAt(from, size);
    }
  }
  return info;
}

/// The same numbers as another type, whose unit may differ.
static AxisInfo reinterpretedInfo(AxisInfo info, Type type) {
  info.unit = unitOf(type);
  return info;
}

/// Groups over which all operands are constant give equal results.
static AxisInfo elementwiseInfo(Operation *op, ArrayRef<AxisInfo> operands) {
  AxisInfo info = unknownInfo(op->getResult(0).getType());
  if (!operands.empty())
    for (unsigned dim = 0; dim < info.dims.size(); ++dim) {
      info.dims[dim].group = operands.front().constancy(dim);
      for (const AxisInfo &operand : operands)
        info.dims[dim].group = std::min(info.dims[dim].group, operand.constancy(dim));
    }
  return info;
}

static AxisInfo transferRuns(Operation *op, const AxisInfoAnalysis &known) {
  const Type type = op->getResult(0).getType();
  auto first = [&] { return known.of(op->getOperand(0)); };
  const auto special =
      llvm::TypeSwitch<Operation *, std::optional<AxisInfo>>(op)
          .Case([&](arith::ConstantOp constant) { return constantInfo(constant); })
          .Case([&](tt::MakeRangeOp range) { return rangeInfo(range); })
          .Case<tt::SplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp, tt::ReshapeOp, ttg::ConvertLayoutOp>(
              [&](auto) { return movedInfo(op, first()); })
          .Case([&](tt::AddPtrOp add) { return sumOf(first(), known.of(add.getOffset()), first(), first().unit); })
          .Case<tt::BitcastOp, tt::PtrToIntOp, tt::IntToPtrOp>([&](auto) { return reinterpretedInfo(first(), type); })
          .Default([](Operation *) { return std::nullopt; });
  if (special)
    return *special;
  // Equal addresses under equal masks load equal values.
  auto load = dyn_cast<tt::LoadOp>(op);
  if (load ? load.getIsVolatile() : !op->hasTrait<OpTrait::Elementwise>() || !isMemoryEffectFree(op))
    return unknownInfo(type);
  SmallVector<AxisInfo, 3> operands;
  for (Value operand : op->getOperands()) {
    const AxisInfo info = known.of(operand);
    const bool isScalar = isa<RankedTensorType>(type) && !isa<RankedTensorType>(operand.getType());
    operands.push_back(isScalar ? repeated(info, tt::withElement(type, operand.getType())) : info);
  }
  if (auto info = transferArithmetic(op, operands, unknownInfo(type)))
    return *info;
  return elementwiseInfo(op, operands);
}

AxisInfo index::transfer(Operation *op, const AxisInfoAnalysis &known) {
  const Value result = op->getResult(0);
  const IntegerRange whole = IntegerRange::whole(result.getType());
  AxisInfo info = transferRuns(op, known);
  const auto operands =
      llvm::map_to_vector<3>(op->getOperands(), [&](Value operand) { return known.rangeOf(operand); });
  info.range = rangeOf(op, operands).value_or(whole);
  if (info.range.within(whole) != info.range)
    info.range = index::isOffset(result) ? info.range.within(whole) : whole;
  return info;
}

/// One number per dimension, from an integer or a list; 0 where there is no hint.
static int64_t hintOf(Attribute attribute, unsigned dim) {
  if (auto number = dyn_cast_or_null<IntegerAttr>(attribute))
    return number.getInt();
  auto list = dyn_cast_or_null<DenseIntElementsAttr>(attribute);
  if (!list || dim >= list.getNumElements())
    return 0;
  return (*(list.value_begin<APInt>() + dim)).getSExtValue();
}

void index::addHints(AxisInfo &info, Attribute divisibility, Attribute contiguity, Attribute constancy) {
  for (auto [index, dim] : llvm::enumerate(info.dims)) {
    if (int64_t number = hintOf(contiguity, index); number > 0 && powerOfTwoIn(number) > info.contiguity(index))
      info.setGroup(index, powerOfTwoIn(number), info.unit);
    if (int64_t number = hintOf(constancy, index); number > 0 && powerOfTwoIn(number) > info.constancy(index))
      info.setGroup(index, powerOfTwoIn(number), 0);
    if (int64_t number = hintOf(divisibility, index); number > 0)
      dim.divisibility = std::max(dim.divisibility, powerOfTwoIn(number));
  }
}
