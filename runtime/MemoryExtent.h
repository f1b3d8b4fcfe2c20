// The memory behind an argument of a launch, for kernels that check what they access.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include <cstdint>

namespace nereid::runtime {

/// Of one parameter. A launcher may put one for each behind the argument block of a kernel that checksMemory.
struct MemoryExtent {
  uint64_t base = 0;         ///< the argument
  int64_t low = 0, high = 0; ///< the bytes [base + low, base + high) are the tensor's
  uint64_t pattern = 0;      ///< what elements hold that were never written
  uint32_t patternBytes = 0; ///< 0: nothing is known of that
  uint32_t isKnown = 0;      ///< whether `low` and `high` say anything
};

/// Whether the kernel was compiled with checks of a sanitizer.
bool checksMemory(const artifact::Artifact &artifact);

} // namespace nereid::runtime
