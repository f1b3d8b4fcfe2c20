// The layout of matrices in shared memory that matrix instructions and tensor copies read by themselves.
// SPDX-License-Identifier: MIT
//
// A panel is as wide as the swizzle and has all rows; panels follow one another. In a panel, chunk c (of 16 bytes) of
// row r lies at c ^ (r * panelBytes / 128 % chunksPerRow): bits 4 and up of an address by XOR with bits 7 and up. (PTX
// ISA, swizzling modes of tensor copies and of wgmma's matrices.)
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

  unsigned panelBytes() const { return swizzleBytes ? swizzleBytes : kChunkBytes; }
  unsigned panelElems() const { return panelBytes() * 8 / elemBits; }
  /// Of the buffer's first byte, so that address bits are those of the pattern.
  unsigned alignmentBytes() const { return kMatrixRows * panelBytes(); }
};

/// From offsets in elements to [batch...,] rows x columns. Extents are powers of two, that along rows a panel at least.
LinearLayout matrixBufferLayout(const MatrixBuffer &buffer, llvm::ArrayRef<int64_t> shape);

/// The bits of a matrix's descriptor but its address, which are the lowest 14 and count chunks. `rowsAlongDepth`: rows
/// of the buffer run along the dimension that is summed over. (PTX ISA, matrix descriptor format of wgmma.)
uint64_t matrixDescriptor(const MatrixBuffer &buffer, int64_t numRows, bool rowsAlongDepth);

} // namespace nereid::layout
