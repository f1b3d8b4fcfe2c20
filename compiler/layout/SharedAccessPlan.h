// How a tile's registers reach a buffer in shared memory that has a layout of its own: one by one, or as matrices.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Swizzle.h"

#include <optional>

namespace nereid::layout {

/// Which registers go together in one access.
enum class RegisterOrder {
  Free, ///< those that lie side by side in the buffer
  Kept, ///< those of them that follow one another, since another memory is read in their order
};

/// The accesses by which `registers` (register, lane, warp, block -> tile) reach `buffer` (offset, block -> tile):
/// registers that lie side by side go together, up to `maxElems` of them. Idle lanes and warps hold copies.
SharedAccessPattern planSharedAccesses(const LinearLayout &registers, const LinearLayout &buffer, unsigned elemBytes,
                                       unsigned maxElems, RegisterOrder order = RegisterOrder::Free);

/// Loads of matrices of 8 rows by a whole warp. (PTX ISA, ldmatrix.)
struct LdStMatrixPlan {
  /// An access is an instruction: lane 8m + r gives the address of row r, 16 bytes long, of matrix m. Its registers are
  /// those of the word that matrix 0 gives each lane, then of matrix 1's ...
  SharedAccessPattern rows;
  unsigned matrices = 1; ///< 1, 2 or 4
  /// Lane l gets word l % 4 of row l / 4; transposed, it gets elements l / 4 of rows 2 (l % 4) and the next.
  bool isTransposed = false;
};

/// Nothing where the registers do not have the order that the instruction gives.
std::optional<LdStMatrixPlan> planLdStMatrix(const LinearLayout &registers, const LinearLayout &buffer,
                                             unsigned elemBytes);

} // namespace nereid::layout
