// Plans how a tile's registers access a shared-memory buffer with a layout of its own: by vectors, or by ldmatrix /
// stmatrix.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Swizzle.h"

#include <optional>

namespace nereid::layout {

/// Which registers one access combines.
enum class RegisterOrder {
  Free, ///< registers that are adjacent in the buffer
  Kept, ///< consecutive ones of these, since another memory is accessed in their order
};

/// The accesses by which `registers` (register, lane, warp, block -> tile) access `buffer` (offset, block -> tile):
/// adjacent registers are combined, up to `maxElems`. Idle lanes and warps hold copies.
SharedAccessPattern planSharedAccesses(const LinearLayout &registers, const LinearLayout &buffer, unsigned elemBytes,
                                       unsigned maxElems, RegisterOrder order = RegisterOrder::Free);

/// Loads or stores of matrices of 8 rows by a whole warp. (PTX ISA, ldmatrix.)
struct LdStMatrixPlan {
  /// An access is an instruction: lane 8m + r gives the address of row r, 16 bytes long, of matrix m. Its registers are
  /// those of the word that matrix 0 gives each lane, then those of matrix 1, and so on.
  SharedAccessPattern rows;
  unsigned matrices = 1; ///< 1, 2 or 4
  /// Lane l gets word l % 4 of row l / 4; transposed, it gets elements l / 4 of rows 2 (l % 4) and 2 (l % 4) + 1.
  bool isTransposed = false;
};

/// Nothing where the registers do not have the instruction's order.
std::optional<LdStMatrixPlan> planLdStMatrix(const LinearLayout &registers, const LinearLayout &buffer,
                                             unsigned elemBytes);

} // namespace nereid::layout
