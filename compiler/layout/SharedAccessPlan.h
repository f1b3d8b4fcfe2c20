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

/// Loads or stores of matrices of 8 rows by a whole warp; nothing where the registers do not have the instruction's
/// order.
std::optional<SharedAccessPattern> planLdStMatrix(const LinearLayout &registers, const LinearLayout &buffer,
                                                  unsigned elemBytes);
/// Plans accesses by the offsets of registers (register, lane, warp, block -> offset); the register bits in `copies`
/// hold copies.
std::optional<SharedAccessPattern> planLdStMatrix(const LinearLayout &offsets, uint32_t copies, unsigned elemBytes);

} // namespace nereid::layout
