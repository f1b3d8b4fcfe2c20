// The sanitizers that a kernel may be run with, by their names in options.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::artifact {

enum Sanitizer : uint32_t {
  Bounds = 1,    ///< accesses stay inside of the launch's tensors
  Uninit = 2,    ///< memory is written before it is used
  Overflow = 4,  ///< integers that become addresses do not wrap
  Nan = 8,       ///< no operation on numbers gives NaN
  NanLoads = 16, ///< and none is loaded
  Race = 32,     ///< accesses to the same memory are ordered
  Sync = 64      ///< barriers, fences and waits are used as they must be
};

/// What launches on the CPU, and on the simulated GPU, are checked for.
inline constexpr uint32_t kCpuSanitizers = Bounds | Uninit | Overflow | Nan | NanLoads;
inline constexpr uint32_t kSimulatorSanitizers = Bounds | Uninit | Race | Sync;

/// The set of a comma list such as "bounds,nan"; nothing, and the reason, where a word is unknown.
std::optional<uint32_t> parseSanitizers(std::string_view list, std::string &reason);

/// The comma list of a set, in the order above.
std::string sanitizerNames(uint32_t set);

} // namespace nereid::artifact
