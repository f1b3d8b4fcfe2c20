// Builds the layouts of matrix instructions from their bases.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Mma.h"

#include "compiler/layout/TileBases.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

namespace {
/// How warps are distributed.
struct Warps {
  llvm::ArrayRef<unsigned> perCta;
  unsigned columns = kMmaColumns; ///< of one warp
  bool rowsFirst = false;         ///< the first dim runs fastest, not the last
};
} // namespace

/// Adds the warps' bits. The tile lacks the dim `absent`: warps along it hold copies.
static void addWarps(TileBases &bases, const Warps &warps, std::optional<unsigned> absent) {
  const unsigned rank = warps.perCta.size();
  for (unsigned index : llvm::seq<unsigned>(0, rank)) {
    const unsigned dim = warps.rowsFirst ? index : rank - 1 - index;
    const unsigned first = dim + 1 == rank ? warps.columns : dim + 2 == rank ? kMmaRows : 1;
    for (unsigned step = 1; step < warps.perCta[dim]; step *= 2)
      dim == absent ? bases.addCopy(kWarp) : bases.add(kWarp, dim, first * step);
  }
}

static LinearLayout accumulator(const Warps &warps, llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && shape.size() == warps.perCta.size() && "one rank");
  const unsigned row = shape.size() - 2, column = row + 1;
  TileBases bases(shape.size());
  bases.add(kRegister, column, 1);
  bases.add(kRegister, row, 8);
  for (unsigned step = kMmaColumns; step < warps.columns; step *= 2)
    bases.add(kRegister, column, step);
  for (int32_t step : {2, 4})
    bases.add(kLane, column, step);
  for (int32_t step : {1, 2, 4})
    bases.add(kLane, row, step);
  addWarps(bases, warps, std::nullopt);
  return bases.finish(shape);
}

LinearLayout layout::mmaAccumulator(llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape) {
  return accumulator({warpsPerCta}, shape);
}

LinearLayout layout::warpGroupAccumulator(unsigned columns, llvm::ArrayRef<unsigned> warpsPerCta,
                                          llvm::ArrayRef<int64_t> shape) {
  return accumulator({warpsPerCta, columns, /*rowsFirst=*/true}, shape);
}

static LinearLayout operandOf(unsigned operand, unsigned kWidth, const Warps &warps, llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && shape.size() == warps.perCta.size() && llvm::isPowerOf2_32(kWidth) && "one rank");
  const bool isLeft = operand == 0;
  const unsigned row = shape.size() - 2, column = row + 1;
  const unsigned k = isLeft ? column : row, other = isLeft ? row : column;
  TileBases bases(shape.size());
  for (unsigned step = 1; step < kWidth; step *= 2)
    bases.add(kRegister, k, step);
  if (isLeft)
    bases.add(kRegister, other, 8);
  bases.add(kRegister, k, kMmaLanesAlongK * kWidth);
  for (unsigned step = 1; step < kMmaLanesAlongK; step *= 2)
    bases.add(kLane, k, step * kWidth);
  for (int32_t step : {1, 2, 4})
    bases.add(kLane, other, step);
  addWarps(bases, warps, k);
  return bases.finish(shape);
}

LinearLayout layout::mmaOperand(unsigned operand, unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta,
                                llvm::ArrayRef<int64_t> shape) {
  return operandOf(operand, kWidth, {warpsPerCta}, shape);
}

LinearLayout layout::warpGroupOperand(unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta,
                                      llvm::ArrayRef<int64_t> shape) {
  return operandOf(0, kWidth, {warpsPerCta, kMmaColumns, /*rowsFirst=*/true}, shape);
}

uint32_t layout::mmaLanesBeyond(unsigned kWidth, int64_t extent) {
  uint32_t lanes = 0;
  for (unsigned bit = 0; (1u << bit) < kMmaLanesAlongK; ++bit)
    if (int64_t{kWidth} << bit >= extent)
      lanes |= 1u << bit;
  return lanes;
}

LinearLayout layout::fmaOperand(const LinearLayout &accumulator, unsigned operand, int64_t extent) {
  const unsigned rank = accumulator.numOutputs(), k = operand == 0 ? rank - 1 : rank - 2;
  assert(accumulator.outSize(dimName(k)) == 1 && "the accumulator has no extent along k");
  return accumulator * LinearLayout::identity1D(extent, kRegister, dimName(k));
}
