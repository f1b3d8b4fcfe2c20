// Distributes warps over dots of tensor cores and chooses vectors along the K dimension.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/dots/MmaLayouts.h"

#include "compiler/layout/Mma.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/MmaKind.h"
#include "compiler/target/nvidia/passes/dots/WidthAlongK.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

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

LayoutEncoding nvidia::dotLayout(tt::DotOp dot, const MmaFeatures &features, ThreadCounts threads) {
  if (!features.hasWarpMma || threads.threadsPerWarp != 32 || !ttng::mmaKindOf(dot))
    return {};
  if (NvidiaMmaAttr groups = warpGroupLayout(dot, features, threads.numWarps))
    return groups;
  return NvidiaMmaAttr::get(dot.getContext(), 2, 0,
                            spreadWarps(dot, threads.numWarps, layout::kMmaRows, layout::kMmaColumns),
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
