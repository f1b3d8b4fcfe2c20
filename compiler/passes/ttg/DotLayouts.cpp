// Distributes warps over dots and chooses vectors along the K dimension.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/DotLayouts.h"

#include "compiler/dialect/ttg/MmaKind.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/layout/Mma.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Whether a dot's result becomes an operand of another dot: then rows should stay in one warp.
static bool isChained(tt::DotOp dot) {
  SetVector<Operation *> after, before;
  getForwardSlice(dot.getOperation(), &after);
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(dot.getOperation(), &before, options);
  auto isOther = [&](Operation *op) { return op != dot && isa<tt::DotOp>(op); };
  return llvm::any_of(after, isOther) || llvm::any_of(before, isOther);
}

/// Splits the dimension in which a warp's part is longest; warps without work hold copies.
static SmallVector<unsigned> spreadWarps(tt::DotOp dot, unsigned numWarps) {
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getType());
  const unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  const bool alongRows = isChained(dot);
  SmallVector<unsigned> warps(rank, 1);
  SmallVector<int64_t> left(shape);
  left[row] /= layout::kMmaRows;
  left[column] /= layout::kMmaColumns;
  for (; numWarps > 1; numWarps /= 2) {
    unsigned dim = row;
    if (rank == 3 && left[0] > 1)
      dim = 0; // dots of a batch share no operands
    else if (left[row] <= 1 ? left[column] > 1 : !alongRows && left[column] > 2 * left[row])
      dim = column;
    warps[dim] *= 2;
    left[dim] /= 2;
  }
  return warps;
}

int64_t ttg::bytesOfOperands(tt::DotOp dot) {
  int64_t bytes = 0;
  for (Value operand : {dot.getA(), dot.getB()})
    bytes += cast<RankedTensorType>(operand.getType()).getNumElements() *
             tt::elementOf(operand.getType()).getIntOrFloatBitWidth() / 8;
  return bytes;
}

/// Stacks groups of four warps along M as long as there are rows, then along N. Null where wgmma does not support the
/// element types or is larger than the tile, or where the operands do not fit shared memory.
static NvidiaMmaAttr warpGroupLayout(tt::DotOp dot, const MmaFeatures &features, unsigned numWarps) {
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getType());
  Type left = tt::elementOf(dot.getA().getType()), right = tt::elementOf(dot.getB().getType());
  if (!features.hasWarpGroupMma || shape.size() != 2 || numWarps % layout::kWarpsPerWarpGroup ||
      bytesOfOperands(dot) > features.maxSharedBytes ||
      !ttng::hasWgmmaInstruction(left, right, tt::elementOf(dot.getType()), dot.getInputPrecision()))
    return {};
  const unsigned depth = ttng::wgmmaDepth(left.getIntOrFloatBitWidth()), groups = numWarps / layout::kWarpsPerWarpGroup;
  const int64_t along = std::min<int64_t>(groups, shape[0] / layout::kWarpGroupRows);
  if (along == 0 || tt::shapeOf(dot.getA().getType())[1] < depth)
    return {};
  const int64_t columns = std::min<int64_t>(shape[1] / (groups / along), layout::kMaxWarpGroupColumns);
  if (columns < layout::kMmaColumns)
    return {};
  const unsigned warps[] = {unsigned(along) * layout::kWarpsPerWarpGroup, unsigned(groups / along)};
  return NvidiaMmaAttr::get(dot.getContext(), 3, 0, warps, {layout::kMmaRows, unsigned(columns), depth});
}

/// Whether a tile is computed from another dot's result, so that it is in registers and not loaded from memory.
static bool isComputedFromDot(Value tile) {
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.omitBlockArguments = options.inclusive = true;
  options.filter = [](Operation *op) { return !isa<tt::LoadOp, ttng::TileLoadOp>(op); };
  (void)getBackwardSlice(tile, &before, options);
  return llvm::any_of(before, [](Operation *op) { return isa<tt::DotOp>(op); });
}

/// Distributes `count` threads or warps over a tile of `rows` by `columns` vectors such that each gets about as many
/// rows as columns, which minimises the operands it reads. Threads or warps without work hold copies.
static std::pair<unsigned, unsigned> spreadEvenly(int64_t rows, int64_t columns, unsigned count) {
  unsigned alongRows = 1, alongColumns = 1;
  while (alongRows * alongColumns < count) {
    const bool wider = columns / alongColumns >= rows / alongRows;
    (wider ? alongColumns : alongRows) *= 2;
  }
  return {alongRows, alongColumns};
}

/// Blocks of four by four elements of the result, where each thread has that many.
static LayoutEncoding blockOfElements(tt::DotOp dot, ThreadCounts threads) {
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getType());
  const unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  const int64_t perThread = dot.getType().getNumElements() / (threads.numWarps * threads.threadsPerWarp);
  SmallVector<unsigned> size(rank, 1), lanes(rank, 1), warps(rank, 1);
  size[column] = std::min<int64_t>(shape[column], perThread >= 4 ? 4 : 1);
  size[row] = std::min<int64_t>(shape[row], perThread >= 16 ? 4 : 1);
  unsigned numWarps = threads.numWarps;
  for (unsigned dim = 0; dim < row; ++dim) {
    warps[dim] = std::min<int64_t>(shape[dim], numWarps);
    numWarps /= warps[dim];
  }
  const int64_t rows = shape[row] / size[row], columns = shape[column] / size[column];
  std::tie(lanes[row], lanes[column]) = spreadEvenly(rows, columns, threads.threadsPerWarp);
  std::tie(warps[row], warps[column]) =
      spreadEvenly(std::max<int64_t>(1, rows / lanes[row]), std::max<int64_t>(1, columns / lanes[column]), numWarps);
  return BlockedAttr::get(dot.getContext(), size, lanes, warps,
                          llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank))));
}

LayoutEncoding ttg::accumulatorLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads) {
  if (!features.hasWarpMma || threads.threadsPerWarp != 32 || !mmaKindOf(dot))
    return blockOfElements(dot, threads);
  if (NvidiaMmaAttr groups = warpGroupLayout(dot, features, threads.numWarps))
    return groups;
  return NvidiaMmaAttr::get(dot.getContext(), 2, 0, spreadWarps(dot, threads.numWarps),
                            {layout::kMmaRows, layout::kMmaColumns});
}

LayoutEncoding ttg::operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator) {
  if (auto mma = dyn_cast<NvidiaMmaAttr>(accumulator); mma && mma.isWgmma()) {
    Type element = tt::elementOf(dot.getA().getType());
    const bool isInRegisters = operand == 0 && isComputedFromDot(dot.getA());
    return isInRegisters ? DotOperandAttr::get(dot.getContext(), 0, accumulator, 32 / element.getIntOrFloatBitWidth())
                         : LayoutEncoding();
  }
  const unsigned kWidth = isa<NvidiaMmaAttr>(accumulator) ? runAlongK(*mmaKindOf(dot)) : 0;
  return DotOperandAttr::get(dot.getContext(), operand, accumulator, kWidth);
}
