// Builds the layout of matrices in shared memory bit by bit of the offset.
// SPDX-License-Identifier: MIT
#include "compiler/layout/MatrixBuffer.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

/// The lowest address bit that is XORed into bit 4.
static constexpr unsigned kPhaseBytes = 128;

/// The step along a row that accompanies row `step`: a chunk if its address bit is one of the phase's.
static int32_t chunkOfRow(const MatrixBuffer &buffer, int64_t step) {
  const int64_t address = step * buffer.panelBytes(), chunk = address / kPhaseBytes;
  const bool isPhase = chunk > 0 && chunk < buffer.panelBytes() / kChunkBytes;
  return isPhase ? chunk * kChunkBytes * 8 / buffer.elemBits : 0;
}

/// The byte at an offset in a row of which each second half of a chunk is unused.
static int32_t withoutGaps(int32_t offset) {
  constexpr int32_t half = kChunkBytes / 2;
  return offset / int32_t(kChunkBytes) * half + offset % half;
}

/// Adds the bases of the last two dims.
static void addMatrix(std::vector<LinearLayout::Coordinates> &bases, const MatrixBuffer &buffer,
                      llvm::ArrayRef<int64_t> shape) {
  const unsigned rank = shape.size(), last = rank - 1;
  const unsigned along = buffer.isTransposed ? last - 1 : last, rows = buffer.isTransposed ? last : last - 1;
  auto inRow = [&](int32_t offset) { return buffer.isFp4Padded ? withoutGaps(offset) : offset; };
  for (int64_t step = 1; step < buffer.panelElems(); step *= 2)
    bases.emplace_back(rank, 0)[along] = inRow(step);
  for (int64_t step = 1; step < shape[rows]; step *= 2) {
    LinearLayout::Coordinates &basis = bases.emplace_back(rank, 0);
    basis[rows] = step;
    basis[along] = inRow(chunkOfRow(buffer, step));
  }
  for (int64_t step = buffer.panelElems() / (buffer.isFp4Padded ? 2 : 1); step < shape[along]; step *= 2)
    bases.emplace_back(rank, 0)[along] = step;
}

LinearLayout layout::matrixBufferLayout(const MatrixBuffer &buffer, llvm::ArrayRef<int64_t> shape) {
  const unsigned rank = shape.size(), inMatrix = std::min(rank, 2u);
  std::vector<LinearLayout::Input> inputs = {{kOffset.str(), {}}, {kBlock.str(), {}}};
  std::vector<LinearLayout::Coordinates> &bases = inputs[0].bases;
  if (rank > 1)
    addMatrix(bases, buffer, shape);
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, rank > 1 ? rank - inMatrix : rank)))
    for (int64_t step = 1; step < shape[dim]; step *= 2)
      bases.emplace_back(rank, 0)[dim] = step;
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({dimName(dim), int32_t(extent)});
  return LinearLayout::fromBases(inputs, outputs);
}

/// The matrix descriptor's code of a swizzle.
static uint64_t modeOf(unsigned swizzleBytes) {
  switch (swizzleBytes) {
  case 128:
    return 1;
  case 64:
    return 2;
  case 32:
    return 3;
  default:
    return 0;
  }
}

uint64_t layout::matrixDescriptor(const MatrixBuffer &buffer, int64_t numRows, bool rowsAlongDepth) {
  const uint64_t panel = numRows * buffer.panelBytes() / kChunkBytes;
  const uint64_t eightRows = kMatrixRows * buffer.panelBytes() / kChunkBytes;
  // For rows along K, the stride is the step from eight rows to the next. Unswizzled, the leading offset is the step
  // from a chunk to the next along K; swizzled rows hold an instruction's K. For rows across K, swizzled: the leading
  // offset is the step between panels and the stride that between eight rows; unswizzled, the reverse.
  const bool panelLeads = rowsAlongDepth || buffer.swizzleBytes;
  const uint64_t leading = rowsAlongDepth && buffer.swizzleBytes ? 1 : panelLeads ? panel : eightRows;
  const uint64_t stride = panelLeads ? eightRows : panel;
  return (leading & 0x3fff) << 16 | (stride & 0x3fff) << 32 | modeOf(buffer.swizzleBytes) << 62;
}
