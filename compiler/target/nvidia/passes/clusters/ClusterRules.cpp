// States for each family of ops how its work is divided along a dimension.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/clusters/ClusterRules.h"

#include "compiler/dialect/tt/Extents.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

using SplitDims = SmallVector<SplitDim, 2>;

static unsigned rankOf(Value value) { return tt::shapeOf(value.getType()).size(); }
static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// A dimension that no operand or result has yet.
static SplitDim newDim(Operation *op) {
  SplitDim dim;
  dim.operands.resize(op->getNumOperands());
  dim.results.resize(op->getNumResults());
  return dim;
}

/// The dimensions of an op whose tiles all have one shape: those of the shape.
static SplitDims sameDims(Operation *op) {
  unsigned rank = 0;
  for (Value value : llvm::concat<Value>(llvm::to_vector(op->getOperands()), llvm::to_vector(op->getResults())))
    rank = std::max(rank, rankOf(value));
  SplitDims dims;
  for (unsigned index = 0; index < rank; ++index) {
    SplitDim &dim = dims.emplace_back(newDim(op));
    for (auto [valueDim, operand] : llvm::zip_equal(dim.operands, op->getOperands()))
      if (isTile(operand))
        valueDim = index;
    for (auto [valueDim, result] : llvm::zip_equal(dim.results, op->getResults()))
      if (isTile(result))
        valueDim = index;
  }
  return dims;
}

/// The dimensions of the results, and which of the operands' they are. A dimension that the op adds has the extent that
/// the op gives it, and is not divided.
static SplitDims movedDims(tt::ElementMapOpInterface op) {
  SplitDims dims;
  for (unsigned index = 0; index < rankOf(op->getResult(0)); ++index) {
    SplitDim &dim = dims.emplace_back(newDim(op));
    dim.results.assign(dim.results.size(), index);
  }
  for (unsigned operand = 0; operand < op->getNumOperands(); ++operand)
    for (auto [valueDim, index] : llvm::enumerate(op.getElementMap(operand, 0)))
      if (index.kind == tt::ElementIndex::Kind::ResultDim)
        dims[index.number].operands[operand] = valueDim;
  if (!isa<tt::BroadcastOp>(op))
    llvm::erase_if(dims, [](const SplitDim &dim) {
      return llvm::none_of(dim.operands, [](auto valueDim) { return valueDim.has_value(); });
    });
  return dims;
}

/// Shapes agree in runs of dimensions with the same product; the first dimension of a run holds the part that is
/// contiguous in row-major order.
static SplitDims reshapedDims(tt::ReshapeOp op) {
  ArrayRef<int64_t> from = op.getSrc().getType().getShape(), to = op.getType().getShape();
  SplitDims dims;
  size_t source = 0, target = 0;
  while (source < from.size() && target < to.size()) {
    int64_t before = 1, after = 1;
    std::optional<unsigned> first, result;
    do {
      const bool takesSource = source < from.size() && (before <= after || target >= to.size());
      std::optional<unsigned> &valueDim = takesSource ? first : result;
      size_t &next = takesSource ? source : target;
      const int64_t extent = takesSource ? from[next] : to[next];
      (takesSource ? before : after) *= extent;
      if (extent > 1 && !valueDim)
        valueDim = next;
      ++next;
    } while ((before != after || !result) && (source < from.size() || target < to.size()));
    if (!first || !result)
      continue;
    SplitDim &dim = dims.emplace_back(newDim(op));
    dim.operands.front() = first;
    dim.results.front() = result;
  }
  return dims;
}

static SplitDims reducedDims(tt::ReduceOp op) {
  const unsigned axis = op.getAxis();
  SplitDims dims = sameDims(op);
  for (auto [index, dim] : llvm::enumerate(dims)) {
    dim.isCombined = index == axis;
    for (auto &valueDim : dim.results)
      valueDim = dim.isCombined ? std::nullopt : std::optional<unsigned>(index - (index > axis));
  }
  return dims;
}

static SplitDims scannedDims(tt::ScanOp op) {
  SplitDims dims = sameDims(op);
  dims.erase(dims.begin() + op.getAxis());
  return dims;
}

/// M and N, after the batch; each operand has one of them.
static SplitDims dotDims(tt::DotOp op) {
  SplitDims dims = sameDims(op);
  const unsigned m = dims.size() - 2, n = dims.size() - 1;
  dims[m].operands[1] = std::nullopt;
  dims[n].operands[0] = std::nullopt;
  return dims;
}

/// A tile's rows are all dimensions of the block but the last one.
static SplitDims tileAccessDims(Operation *op, ArrayRef<int64_t> block) {
  return block.size() == 2 ? sameDims(op) : SplitDims();
}

static bool isElementwise(Operation *op) {
  if (op->hasAttr(tt::kExtents))
    return false;
  if (auto map = dyn_cast<tt::MapElementwiseOp>(op))
    return map.getPack() == 1;
  return op->hasTrait<OpTrait::Elementwise>() || isa<tt::MemoryAccessOpInterface, tt::AssertOp>(op);
}

SmallVector<SplitDim, 2> nvidia::splitDimsOf(Operation *op) {
  return llvm::TypeSwitch<Operation *, SplitDims>(op)
      .Case([](tt::ReshapeOp op) { return reshapedDims(op); })
      .Case([](tt::ReduceOp op) { return reducedDims(op); })
      .Case([](tt::ScanOp op) { return scannedDims(op); })
      .Case([](tt::DotOp op) { return dotDims(op); })
      .Case([](tt::ElementMapOpInterface op) { return movedDims(op); })
      .Case([](ttng::TileLoadOp op) { return tileAccessDims(op, op.getBlock()); })
      .Case([](ttng::TileStoreOp op) { return tileAccessDims(op, op.getBlock()); })
      .Default([](Operation *op) { return isElementwise(op) ? sameDims(op) : SplitDims(); });
}

bool nvidia::isRematerialised(Operation *op, llvm::function_ref<bool(Value)> isRematerialised) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)) || op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isa<SplatElementsAttr>(constant.getValue());
  if (isa<tt::MakeRangeOp, tt::SplatOp, ub::PoisonOp>(op))
    return true;
  if (!isElementwise(op) && !isa<tt::ExpandDimsOp, tt::BroadcastOp, tt::TransOp>(op))
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return !isTile(operand) || isRematerialised(operand); });
}
