// What code is made for: plain facts, resolved before anything is keyed by them.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace nereid::support {

/// A device kind with its exact architecture. `arch` and `features` are never
/// "native": they name what was found, so that equal specs make equal code.
struct TargetSpec {
  std::string backend;              ///< "cpu", "cuda" or "hip"
  std::string arch;                 ///< cpu: an LLVM CPU name ("znver3"); cuda: "90"; hip: "gfx942"
  std::string features;             ///< cpu: LLVM feature string ("+avx2,+fma,..."), sorted; else empty
  uint64_t lastLevelCacheBytes = 0; ///< cpu: size of the last-level cache, rounded to a power of two

  bool operator==(const TargetSpec &) const = default;
};

} // namespace nereid::support
