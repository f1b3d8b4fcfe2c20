// The extent of the memory that a launch's argument points to, for kernels that check their accesses.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include <cstdint>

namespace nereid::runtime {

/// The extent of one parameter. A launcher may append one for each to the packed arguments of a kernel that
/// checksMemory.
struct MemoryExtent {
  uint64_t base = 0;         ///< the value of the pointer argument
  int64_t low = 0, high = 0; ///< the bytes [base + low, base + high) are the tensor's
  uint64_t pattern = 0;      ///< the fill value of elements that were never written
  uint32_t patternBytes = 0; ///< 0: the fill value is unknown
  uint32_t isKnown = 0;      ///< whether `low` and `high` are valid
};

/// Whether the kernel was compiled with checks of a sanitizer.
bool checksMemory(const artifact::Artifact &artifact);

} // namespace nereid::runtime
