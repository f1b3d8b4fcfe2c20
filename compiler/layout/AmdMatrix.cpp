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

AmdDistribution::AmdDistribution(llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<unsigned> tilesPerWarp)
    : isDimByDim(true) {
  const unsigned rank = warpsPerCta.size();
  const auto add = [&](std::vector<LinearLayout::Coordinates> &bases, unsigned dim, unsigned count, int32_t step) {
    for (unsigned bit = 1; bit < count; bit *= 2)
      bases.emplace_back(rank, 0)[dim] = bit * step;
  };
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, rank))) {
    const unsigned tiles = tilesPerWarp.empty() ? 1 : tilesPerWarp[dim];
    add(registers, dim, tiles, 1);
    add(warps, dim, warpsPerCta[dim], tiles);
  }
}

namespace {
/// Adds the bits of a wave's tiles and of the waves to those of one tile.
class TileSpread {
public:
  /// The tile lacks the dim `absent`, if any: registers have no bits along it, waves hold copies.
  TileSpread(TileBases &bases, const AmdMatrixTile &tile, const AmdDistribution &distribution,
             llvm::ArrayRef<int64_t> shape, std::optional<unsigned> absent)
      : bases(bases), tile(tile), distribution(distribution), shape(shape), absent(absent) {}

  void run() {
    addRegisters();
    for (const LinearLayout::Coordinates &basis : distribution.warps)
      bases.add(kWarp, inElements(basis));
  }

private:
  LinearLayout::Coordinates inElements(LinearLayout::Coordinates basis) const {
    for (unsigned dim = 0; dim < basis.size(); ++dim)
      basis[dim] = dim == absent ? 0 : basis[dim] * (dim + 2 < basis.size() ? 1 : int32_t(tile.extent));
    return basis;
  }
  /// The extent of the tiles of all waves along `dim`.
  int64_t reach(unsigned dim) const {
    int64_t extent = dim + 2 < shape.size() ? 1 : tile.extent;
    for (const auto *list : {&distribution.registers, &distribution.warps})
      for (const LinearLayout::Coordinates &basis : *list)
        extent = std::max<int64_t>(extent, int64_t{inElements(basis)[dim]} * 2);
    return extent;
  }
  void addRegisters() {
    if (!distribution.isDimByDim) {
      for (const LinearLayout::Coordinates &basis : distribution.registers)
        if (auto elements = inElements(basis); llvm::any_of(elements, [](int32_t step) { return step != 0; }))
          bases.add(kRegister, std::move(elements));
      return;
    }
    for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, shape.size()))) {
      if (dim == absent)
        continue;
      for (const LinearLayout::Coordinates &basis : distribution.registers)
        if (basis[dim])
          bases.add(kRegister, inElements(basis));
      for (int64_t step = reach(dim); step < shape[dim]; step *= 2)
        bases.add(kRegister, dim, step);
    }
  }

  TileBases &bases;
  const AmdMatrixTile &tile;
  const AmdDistribution &distribution;
  llvm::ArrayRef<int64_t> shape;
  std::optional<unsigned> absent;
};
} // namespace

LinearLayout layout::amdAccumulator(const AmdMatrixTile &tile, const AmdDistribution &distribution,
                                    llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && "rows and columns");
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
  TileSpread(bases, tile, distribution, shape, std::nullopt).run();
  return bases.finish(shape);
}

LinearLayout layout::amdOperand(const AmdMatrixTile &tile, unsigned operand, unsigned kWidth,
                                const AmdDistribution &distribution, llvm::ArrayRef<int64_t> shape) {
  assert(shape.size() >= 2 && llvm::isPowerOf2_32(kWidth) && "rows and columns, vectors along k");
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
  for (int64_t step = int64_t{kWidth} * tile.groupsAlongK(); step < shape[k]; step *= 2)
    bases.add(kRegister, k, step);
  TileSpread(bases, tile, distribution, shape, k).run();
  return bases.finish(shape);
}

LinearLayout layout::amdScale(const AmdMatrixTile &tile, unsigned operand, const AmdDistribution &distribution,
                              llvm::ArrayRef<int64_t> shape) {
  if (operand == 0)
    return amdOperand(tile, 0, /*kWidth=*/1, distribution, shape);
  // Scales of the right operand have its columns as rows.
  std::vector<int64_t> transposed = shape.vec();
  std::swap(transposed[shape.size() - 1], transposed[shape.size() - 2]);
  const LinearLayout columns = amdOperand(tile, 1, /*kWidth=*/1, distribution, transposed);
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
