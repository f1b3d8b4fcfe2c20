// Matrix instructions of AMD's GPUs as tables: which lane and register holds which element.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace nereid::sim {

enum class AmdElement : uint8_t {
  F16,
  BF16,
  XF32,
  F32,
  F64,
  I8,
  U8,
  I4,
  U4,
  E4M3,
  E5M2,
  E4M3FNUZ,
  E5M2FNUZ,
  E2M3,
  E3M2,
  E2M1,
  I32,
};
bool amdElementOf(std::string_view name, AmdElement &element);
unsigned bitsOf(AmdElement element);
/// The value of the low bits of an element of at most 32 bits.
double valueOf(AmdElement element, uint32_t bits);

/// Element `index` of a lane of an operand is at row (or column) `major`, position `k` of the sum.
struct OperandPlace {
  unsigned major, k;
};
/// Register `index` of a lane of the result has this element.
struct ResultPlace {
  unsigned row, column;
};

/// One row of the instruction documents. Lane l has row l % M of the left matrix and column l % N of the right one; its
/// elements come in chunks of neighbours along K, which the groups of lanes take in turn. The result's lane l has
/// column l % N; its registers come in chunks of neighbouring rows, which the groups of lanes take in turn.
struct MatrixShape {
  std::string_view name; ///< "m32n32k8"
  uint8_t rows, columns, depth;
  uint8_t chunkAlongK; ///< elements
  uint8_t chunkOfRows; ///< registers
  uint8_t lanes;       ///< of a wave
  bool isReplicated;   ///< each group of lanes has all of the operands (RDNA3)

  unsigned groups() const { return lanes / rows; }
  unsigned elementsOfLane() const { return isReplicated ? depth : depth / groups(); }
  unsigned resultsOfLane() const { return rows * columns / lanes; }
  OperandPlace operandPlace(unsigned lane, unsigned index) const;
  ResultPlace resultPlace(unsigned lane, unsigned index) const;
};

/// The registers of a product, by slot. A lane has registers of one row of the left matrix and one column of the right.
struct WaveProduct {
  const MatrixShape &shape;
  std::span<const uint32_t> results, left, right, sums;
  std::span<const uint32_t> scales; ///< of the left and of the right matrix, or none
  bool hasPackedResults = false;    ///< two elements in a register
};

/// The row of the table: by family ("mfma", "mfma_f8f6f4" and "mfma_scale", which share rows, "gfx11" and "gfx12" for
/// WMMA of RDNA3 and RDNA4), name and elements of the left matrix.
std::optional<uint8_t> findMatrixShape(std::string_view family, std::string_view name, AmdElement element);
const MatrixShape &matrixShape(uint8_t row);

} // namespace nereid::sim
