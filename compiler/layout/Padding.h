// Gaps between the elements of a buffer in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>

namespace nereid::layout {

/// `size` unused units follow each `interval` units; both are powers of two, and several gaps at one offset add up.
struct Gap {
  uint32_t interval = 1, size = 0;
  bool operator==(const Gap &) const = default;
};

struct Padding {
  llvm::SmallVector<Gap, 2> gaps;

  bool empty() const { return gaps.empty(); }
  /// The offset with all gaps before it. For offsets without a common bit, apply(a + b) = apply(a) + apply(b).
  uint64_t apply(uint64_t offset) const {
    uint64_t result = offset;
    for (const Gap &gap : gaps)
      result += offset / gap.interval * gap.size;
    return result;
  }
  /// The room for `count` units, without a gap after the last.
  uint64_t extent(uint64_t count) const { return count ? apply(count - 1) + 1 : 0; }
  /// The largest power of two up to `most` for which aligned vectors of so many units stay together and aligned.
  uint32_t widestVector(uint32_t most) const {
    for (const Gap &gap : gaps)
      most = std::min({most, gap.interval, gap.size ? gap.size & -gap.size : most});
    return most;
  }
  /// The gaps in units that are `factor` times smaller.
  Padding scaled(uint32_t factor) const {
    Padding result = *this;
    for (Gap &gap : result.gaps)
      gap = {gap.interval * factor, gap.size * factor};
    return result;
  }
  bool operator==(const Padding &) const = default;
};

} // namespace nereid::layout
