// Plans gathers from a tile: at one XOR distance, or from a buffer at arbitrary indices.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Swizzle.h"

namespace nereid::layout {

/// Exchanges every element with the one at a fixed XOR distance: register r of a thread gets register r ^ registerXor
/// of the thread with lane ^ laneXor and warp ^ warpXor.
struct ExchangePlan {
  uint32_t registerXor = 0, laneXor = 0, warpXor = 0;
  /// Where warpXor is not 0: loads already return the data of the other lane and warp.
  SharedPlan shared;

  bool crossesWarps() const { return warpXor != 0; }
  uint32_t sharedBytes() const { return crossesWarps() ? shared.bytes : 0; }
};

/// `layout` is surjective; the distance along `axis` is below its extent.
ExchangePlan planExchange(const LinearLayout &layout, unsigned axis, uint32_t distance, unsigned elemBits);

/// The stores of a tile to a buffer in row-major order.
SharedAccessPattern rowMajorStores(const LinearLayout &layout, unsigned elemBits, const BankModel &banks = {});

} // namespace nereid::layout
