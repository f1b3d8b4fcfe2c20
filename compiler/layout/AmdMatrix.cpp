// Builds the layouts of AMD's matrix instructions from their bases.
// SPDX-License-Identifier: MIT
#include "compiler/layout/AmdMatrix.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/TileBases.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>
#include <optional>

using namespace nereid;
using namespace nereid::layout;

namespace {
/// The bits of an accumulator's run: steps that registers take, and steps of the lanes above those along the other dim.
struct RunSteps {
  std::vector<int32_t> registers, lanes;
};
} // namespace

static RunSteps runSteps(const AmdMatrixTile &tile) {
  switch (tile.kind) {
  case AmdMatrix::Mfma:
    return tile.extent == 32 ? RunSteps{{1, 2, 8, 16}, {4}} : RunSteps{{1, 2}, {4, 8}};
  case AmdMatrix::MfmaF64:
    return {{4, 8}, {1, 2}};
  case AmdMatrix::WmmaReplicated:
    return {{2, 4, 8}, {1}};
  case AmdMatrix::Wmma:
    return {{1, 2, 4}, {8}};
  }
  llvm_unreachable("all kinds are listed");
}

std::vector<unsigned> AmdMatrixTile::run() const {
  std::vector<unsigned> elements = {0};
  for (int32_t step : runSteps(*this).registers)
    for (unsigned index = 0, count = elements.size(); index < count; ++index)
      elements.push_back(elements[index] + step);
  return elements;
}

/// Adds the warps' bits. The tile lacks the dim `absent`: warps along it hold copies.
static void addWarps(TileBases &bases, const AmdMatrixTile &tile, llvm::ArrayRef<unsigned> warpsPerCta,
                     std::optional<unsigned> absent) {
  const unsigned rank = warpsPerCta.size();
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, rank)))
    for (unsigned step = 1; step < warpsPerCta[dim]; step *= 2)
      dim == absent ? bases.addCopy(kWarp) : bases.add(kWarp, dim, (dim + 2 < rank ? 1 : tile.extent) * step);
}

LinearLayout layout::amdAccumulator(const AmdMatrixTile &tile, llvm::ArrayRef<unsigned> warpsPerCta,
                                    llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && shape.size() == warpsPerCta.size() && "one rank");
  const unsigned row = shape.size() - 2, column = row + 1;
  const unsigned alongRun = tile.isTransposed ? column : row, alongLanes = tile.isTransposed ? row : column;
  const RunSteps steps = runSteps(tile);
  TileBases bases(shape.size());
  for (int32_t step : steps.registers)
    bases.add(kRegister, alongRun, step);
  for (unsigned step = 1; step < tile.extent; step *= 2)
    bases.add(kLane, alongLanes, step);
  for (int32_t step : steps.lanes)
    bases.add(kLane, alongRun, step);
  addWarps(bases, tile, warpsPerCta, std::nullopt);
  return bases.finish(shape);
}

LinearLayout layout::amdOperand(const AmdMatrixTile &tile, unsigned operand, unsigned kWidth,
                                llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && shape.size() == warpsPerCta.size() && llvm::isPowerOf2_32(kWidth) && "one rank");
  const unsigned row = shape.size() - 2, column = row + 1;
  const unsigned k = operand == 0 ? column : row, other = operand == 0 ? row : column;
  TileBases bases(shape.size());
  for (unsigned step = 1; step < kWidth; step *= 2)
    bases.add(kRegister, k, step);
  for (unsigned step = 1; step < tile.extent; step *= 2)
    bases.add(kLane, other, step);
  for (unsigned step = 1; step < tile.groupsAlongK(); step *= 2)
    bases.add(kLane, k, kWidth * step);
  if (tile.kind == AmdMatrix::WmmaReplicated)
    bases.addCopy(kLane);
  addWarps(bases, tile, warpsPerCta, k);
  return bases.finish(shape);
}

LinearLayout layout::amdScale(const AmdMatrixTile &tile, unsigned operand, llvm::ArrayRef<unsigned> warpsPerCta,
                              llvm::ArrayRef<int64_t> shape) {
  if (operand == 0)
    return amdOperand(tile, 0, /*kWidth=*/1, warpsPerCta, shape);
  // Scales of the right operand have its columns as rows.
  std::vector<int64_t> transposed = shape.vec();
  std::swap(transposed[shape.size() - 1], transposed[shape.size() - 2]);
  const LinearLayout columns = amdOperand(tile, 1, /*kWidth=*/1, warpsPerCta, transposed);
  std::vector<LinearLayout::Input> inputs;
  for (llvm::StringRef in : columns.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back(LinearLayout::Input{in.str(), {}});
    for (unsigned bit = 0; bit < columns.inBits(in); ++bit) {
      LinearLayout::Coordinates basis = columns.basis(in, bit);
      std::swap(basis[shape.size() - 1], basis[shape.size() - 2]);
      input.bases.push_back(std::move(basis));
    }
  }
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({dimName(dim), int32_t(extent)});
  return LinearLayout::fromBases(inputs, outputs);
}

uint32_t layout::amdLanesBeyond(const AmdMatrixTile &tile, unsigned kWidth, int64_t extent) {
  uint32_t lanes = 0;
  for (unsigned step = 1; step < tile.groupsAlongK(); step *= 2)
    if (int64_t{kWidth} * step >= extent)
      lanes |= tile.extent * step;
  return lanes;
}
