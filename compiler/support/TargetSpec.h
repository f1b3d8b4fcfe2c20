// The target of a compilation, resolved before any key depends on it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace nereid::support {

/// A device kind with its exact architecture. `arch` and `features` are never "native": they name the detected ones, so
/// that equal specs give equal code.
struct TargetSpec {
  std::string backend;              ///< the name of an artifact::TargetInfo
  std::string arch;                 ///< cpu: an LLVM CPU name ("znver3"); cuda: "90"; hip: "gfx942"
  std::string features;             ///< cpu: LLVM feature string ("+avx2,+fma,..."), sorted; else empty
  uint64_t lastLevelCacheBytes = 0; ///< cpu: size of the last-level cache, rounded to a power of two

  bool operator==(const TargetSpec &) const = default;
};

} // namespace nereid::support
