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

/// The byte at an offset in a row of which each second half of a chunk is unused.
static int32_t withoutGaps(int32_t offset) {
  constexpr int32_t half = kChunkBytes / 2;
  return offset / int32_t(kChunkBytes) * half + offset % half;
}

namespace {
/// Collects the elements that the bits of an offset move to.
class OffsetBases {
public:
  OffsetBases(const MatrixBuffer &buffer, unsigned rank, unsigned along) : buffer(buffer), rank(rank), along(along) {}

  /// Further bits from `step` to `extent` of a dim. Whatever dim an address bit moves along, those of the phase also
  /// move by chunks.
  void add(unsigned dim, int64_t step, int64_t extent) {
    for (; step < extent; step *= 2) {
      const int64_t address = (int64_t(buffer.elemBits) << bases.size()) / 8, chunk = address / kPhaseBytes;
      const bool isPhase = chunk > 0 && chunk < buffer.panelBytes() / kChunkBytes;
      LinearLayout::Coordinates &basis = bases.emplace_back(rank, 0);
      basis[dim] = step;
      if (isPhase)
        basis[along] ^= inRow(chunk * kChunkBytes * 8 / buffer.elemBits);
    }
  }
  /// The bits within a panel.
  void addPanel() {
    for (int64_t step = 1; step < buffer.panelElems(); step *= 2)
      bases.emplace_back(rank, 0)[along] = inRow(step);
  }

  std::vector<LinearLayout::Coordinates> bases;

private:
  int32_t inRow(int32_t offset) const { return buffer.isFp4Padded ? withoutGaps(offset) : offset; }

  const MatrixBuffer &buffer;
  unsigned rank, along;
};
} // namespace

LinearLayout layout::matrixBufferLayout(const MatrixBuffer &buffer, llvm::ArrayRef<int64_t> shape) {
  const unsigned rank = shape.size(), last = rank - 1, inMatrix = std::min(rank, 2u);
  const bool isTransposed = rank > 1 && buffer.isTransposed;
  const unsigned along = isTransposed ? last - 1 : last, rows = isTransposed ? last : last - 1;
  OffsetBases offsets(buffer, rank, along);
  if (rank > 1) {
    offsets.addPanel();
    offsets.add(rows, 1, shape[rows]);
    offsets.add(along, buffer.panelElems() / (buffer.isFp4Padded ? 2 : 1), shape[along]);
  } else {
    offsets.add(0, 1, shape[0]);
  }
  for (unsigned dim : llvm::reverse(llvm::seq<unsigned>(0, rank - inMatrix)))
    offsets.add(dim, 1, shape[dim]);
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({dimName(dim), int32_t(extent)});
  return LinearLayout::fromBases({{kOffset.str(), std::move(offsets.bases)}, {kBlock.str(), {}}}, outputs);
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
