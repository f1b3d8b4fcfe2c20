// Executes conversion and reduction plans on plain arrays, as their headers specify.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Conversion.h"
#include "compiler/layout/Reduction.h"

#include <functional>
#include <vector>

namespace nereid::test {

/// Values held by the threads of a CTA, by warp, lane, register.
class Threads {
public:
  Threads(unsigned numWarps, unsigned numLanes, unsigned numRegisters)
      : numWarps(numWarps), numLanes(numLanes), numRegisters(numRegisters),
        values(size_t(numWarps) * numLanes * numRegisters) {}
  uint64_t &at(unsigned warp, unsigned lane, unsigned reg) {
    return values[(size_t(warp) * numLanes + lane) * numRegisters + reg];
  }
  uint64_t at(unsigned warp, unsigned lane, unsigned reg) const {
    return const_cast<Threads *>(this)->at(warp, lane, reg);
  }
  const unsigned numWarps, numLanes, numRegisters;

private:
  std::vector<uint64_t> values;
};

/// Each register holds the value at its index in the flattened tile.
Threads fill(const layout::LinearLayout &layout, const std::function<uint64_t(uint64_t)> &valueOf);

Threads convert(const layout::ConversionPlan &plan, const Threads &source, unsigned numResults);
Threads shuffle(const layout::ShufflePlan &plan, const Threads &source);
/// Sets `broken` where a store conflicts with another value, a load finds nothing, or an address is unaligned or out of
/// range.
Threads throughShared(const layout::SharedPlan &plan, const Threads &source, std::string &broken);

/// The same for a plan that stays within warps, one warp after another; also sets `broken` where two warps use the same
/// part of the buffer, in whichever repetitions.
Threads throughSharedByWarps(const layout::SharedPlan &plan, const Threads &source, std::string &broken);

using Combine = std::function<uint64_t(uint64_t, uint64_t)>;
Threads reduce(const layout::ReductionPlan &plan, unsigned operand, const Threads &source, const Combine &combine,
               std::string &broken);

} // namespace nereid::test
