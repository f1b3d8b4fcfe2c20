// Tells which blocks TMA copies.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/maps/TileLimits.h"
#include "compiler/dialect/tt/Elements.h"

#include "compiler/target/nvidia/dialect/Dialect.h"

using namespace mlir;
using namespace nereid;

static constexpr int64_t kMostTileBytes = 64 * 1024;
/// Fewer rows are less than a whole swizzle pattern, so the next panel or buffer would begin inside of one.
static constexpr int64_t kFewestRows = 8;

std::string nvidia::reasonAgainstTma(RankedTensorType tile) {
  const unsigned bits = tile.getElementType().getIntOrFloatBitWidth();
  const int64_t rank = tile.getRank(), bytes = tt::tileBytes(tile),
                row = tt::storageBytes(tile.getElementType(), tile.getShape().back());
  if (rank < 2 || rank > 5)
    return "blocks of " + std::to_string(rank) + (rank == 1 ? " dimension" : " dimensions");
  if (!llvm::is_contained({8u, 16u, 32u, 64u}, bits))
    return "elements of " + std::to_string(bits) + " bits";
  if (!llvm::all_of(tile.getShape(), llvm::isPowerOf2_64))
    return "extents that are no powers of two";
  if (row < ttng::kTensorMapAlignBytes)
    return "rows of " + std::to_string(row) + " bytes";
  for (int64_t extent : tile.getShape().drop_back())
    if (extent > ttng::kMostBoxElems)
      return "an extent of " + std::to_string(extent);
  if (const int64_t rows = tile.getNumElements() / tile.getShape().back(); rows < kFewestRows)
    return "blocks of fewer than " + std::to_string(kFewestRows) + " rows";
  if (bytes > kMostTileBytes)
    return "blocks of " + std::to_string(bytes) + " bytes";
  return "";
}
