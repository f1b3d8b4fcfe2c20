// Distributes warps over dots of tensor cores and chooses vectors along the K dimension.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/dots/MmaLayouts.h"

#include "compiler/layout/Mma.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/MmaKind.h"
#include "compiler/target/nvidia/passes/dots/WidthAlongK.h"

#include "mlir/Analysis/SliceAnalysis.h"

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
  auto isOther = [&](Operation *op) { return op != dot && isa<tt::DotOpInterface>(op); };
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
  return llvm::any_of(before, llvm::IsaPred<tt::DotOpInterface>);
}

LayoutEncoding nvidia::dotLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads) {
  if (!features.hasWarpMma || threads.threadsPerWarp != 32 || !ttng::mmaKindOf(dot))
    return {};
  if (NvidiaMmaAttr groups = warpGroupLayout(dot, features, threads.numWarps))
    return groups;
  return NvidiaMmaAttr::get(dot.getContext(), 2, 0, spreadWarps(dot, threads.numWarps),
                            {layout::kMmaRows, layout::kMmaColumns});
}

/// Adjacent elements along K of a lane, the same for both operands.
static unsigned lanesWidth(tt::DotOp dot) {
  // The result of another dot has the instruction's own order.
  const bool isChained = isComputedFromDot(dot.getA()) || isComputedFromDot(dot.getB());
  return isChained ? ttng::runAlongK(*ttng::mmaKindOf(dot)) : nvidia::widthAlongK(dot);
}

LayoutEncoding nvidia::operandLayout(tt::DotOp dot, unsigned operand, LayoutEncoding accumulator) {
  if (!cast<NvidiaMmaAttr>(accumulator).isWgmma())
    return DotOperandAttr::get(dot.getContext(), operand, accumulator, lanesWidth(dot));
  const bool isInRegisters = operand == 0 && isComputedFromDot(dot.getA());
  if (!isInRegisters)
    return {};
  const unsigned bits = tt::elementOf(dot.getA().getType()).getIntOrFloatBitWidth();
  return DotOperandAttr::get(dot.getContext(), 0, accumulator, 32 / bits);
}
