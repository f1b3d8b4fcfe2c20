// Builds the layouts of operands and accumulators of AMD's matrix instructions (mfma, wmma).
// SPDX-License-Identifier: MIT
//
// A lane holds one row or column of the accumulator's tile and runs of the other dim. As the instructions define it the
// lane holds a column of the result and runs along rows; `isTransposed` layouts, for which the operands are exchanged,
// have it the other way round: a lane holds runs of adjacent columns, as stores want them.
// (AMD matrix instruction calculator; "AMD Instinct MI300", "RDNA3", "RDNA4" instruction set architectures.)
#pragma once

#include "compiler/layout/Layout.h"

#include <initializer_list>
#include <vector>

namespace nereid::layout {

/// How the lanes of a wave hold the square tile of one instruction.
enum class AmdMatrix : uint8_t {
  Mfma,           ///< a wave of 64; runs of four
  MfmaF64,        ///< the same with f64: lanes, not registers, hold adjacent elements of a run
  WmmaReplicated, ///< a wave of 32 whose halves hold copies of the operands, and every second element of a run
  Wmma,           ///< a wave of 32; runs of eight
};

struct AmdMatrixTile {
  AmdMatrix kind = AmdMatrix::Mfma;
  unsigned extent = 16; ///< rows and columns: 16, or 32 for Mfma
  bool isTransposed = false;

  unsigned lanes() const { return kind == AmdMatrix::Mfma || kind == AmdMatrix::MfmaF64 ? 64 : 32; }
  /// Groups of lanes that hold different parts of k.
  unsigned groupsAlongK() const { return kind == AmdMatrix::WmmaReplicated ? 1 : lanes() / extent; }
  /// The elements of a run that registers of lane 0 hold, in the order of the instruction's registers.
  std::vector<unsigned> run() const;
};

/// How the tiles of instructions are distributed over a CTA. A basis counts tiles along the last two dims and elements
/// along those before them.
struct AmdDistribution {
  std::vector<LinearLayout::Coordinates> registers; ///< of a wave's tiles, before those that fill the shape
  std::vector<LinearLayout::Coordinates> warps;
  /// Whether a wave's tiles along one dim follow each other in its registers, those that fill the shape included.
  bool isDimByDim = false;

  AmdDistribution() = default;
  /// Waves whose last dim runs fastest; each holds a box of `tilesPerWarp` adjacent tiles (empty: one).
  AmdDistribution(llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<unsigned> tilesPerWarp = {});
  AmdDistribution(std::initializer_list<unsigned> warpsPerCta)
      : AmdDistribution(llvm::ArrayRef<unsigned>(warpsPerCta.begin(), warpsPerCta.end())) {}
};

/// The accumulator of a tile of [batch...,] m x n.
LinearLayout amdAccumulator(const AmdMatrixTile &tile, const AmdDistribution &distribution,
                            llvm::ArrayRef<int64_t> shape);

/// The operand (0: left, [batch...,] m x k; 1: right, [batch...,] k x n) for that accumulator. A lane holds vectors of
/// `kWidth` adjacent elements along k, groups of lanes adjacent vectors. All warps of a row (a column) hold the same
/// elements.
LinearLayout amdOperand(const AmdMatrixTile &tile, unsigned operand, unsigned kWidth,
                        const AmdDistribution &distribution, llvm::ArrayRef<int64_t> shape);

/// The scales of that operand, [batch...,] rows x (k / 32), where rows are those of the left operand or the columns of
/// the right one: a lane holds that of its row (column) for the group of lanes of the same number along k.
LinearLayout amdScale(const AmdMatrixTile &tile, unsigned operand, const AmdDistribution &distribution,
                      llvm::ArrayRef<int64_t> shape);

/// The lane bits whose step along k lies beyond an extent of k: lanes with one of them set hold copies.
uint32_t amdLanesBeyond(const AmdMatrixTile &tile, unsigned kWidth, int64_t extent);

} // namespace nereid::layout
