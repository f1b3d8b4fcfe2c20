// Computes the hash of launch keys.
// SPDX-License-Identifier: MIT
#include "jit/LaunchTable.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace nereid::jit {

uint64_t hashKey(std::string_view key) { return XXH3_64bits(key.data(), key.size()); }

} // namespace nereid::jit
