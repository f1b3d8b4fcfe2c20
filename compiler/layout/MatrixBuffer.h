// Describes matrices in shared memory in the layout that wgmma and TMA access directly.
// SPDX-License-Identifier: MIT
//
// A panel is as wide as the swizzle and has all rows; panels are adjacent. In a panel, chunk c (of 16 bytes) of row r
// lies at c ^ (r * panelBytes / 128 % chunksPerRow): bits 4 and up of an address by XOR with bits 7 and up. (PTX ISA,
// swizzling modes of TMA and of wgmma.)
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

inline constexpr unsigned kChunkBytes = 16;
/// Rows that matrix instructions address together.
inline constexpr unsigned kMatrixRows = 8;

struct MatrixBuffer {
  unsigned swizzleBytes = 128; ///< 0, 32, 64 or 128
  unsigned elemBits = 16;
  bool isTransposed = false; ///< rows run along the dim before the last
  bool isFp4Padded = false;  ///< each 8 bytes, of fp4 in pairs, are followed by 8 unused ones

  unsigned panelBytes() const { return swizzleBytes ? swizzleBytes : kChunkBytes; }
  unsigned panelElems() const { return panelBytes() * 8 / elemBits; }
  /// Alignment of the buffer, so that address bits equal offset bits.
  unsigned alignmentBytes() const { return kMatrixRows * panelBytes(); }
};

/// Maps offsets in elements to [batch...,] rows x columns, or to a row alone. Extents are powers of two; the one along
/// rows is at least a panel.
LinearLayout matrixBufferLayout(const MatrixBuffer &buffer, llvm::ArrayRef<int64_t> shape);

/// The matrix descriptor without its address, which is the lowest 14 bits and counts chunks. `rowsAlongDepth`: rows of
/// the buffer run along K. (PTX ISA, matrix descriptor format of wgmma.)
uint64_t matrixDescriptor(const MatrixBuffer &buffer, int64_t numRows, bool rowsAlongDepth);

} // namespace nereid::layout
