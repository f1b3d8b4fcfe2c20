// The checks that a kernel may be compiled with, by the words that users write.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nereid::support {

enum Sanitizer : uint32_t {
  Bounds = 1,   ///< accesses stay inside of the tensors that the launch was given
  Uninit = 2,   ///< what is used was written before
  Overflow = 4, ///< integers that become addresses do not wrap
  Nan = 8,      ///< no operation makes NaN of numbers
  NanLoads = 16 ///< and none is loaded
};

/// The set that a comma list such as "bounds,nan" names; nothing, and why, where a word is unknown.
std::optional<uint32_t> parseSanitizers(llvm::StringRef list, std::string &reason);

/// The comma list of a set, in the order above.
std::string sanitizerNames(uint32_t set);

} // namespace nereid::support
