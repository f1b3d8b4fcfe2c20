// Working memory of a thread that simulates.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

namespace nereid::sim {

/// A T that this thread keeps, allocated at its first use. As thread-local variables these would be part of every
/// thread of every process that loads the library, 190 KB that the loader clears.
template <typename T> T &threadScratch() {
  static thread_local const auto scratch = std::make_unique<T>();
  return *scratch;
}

} // namespace nereid::sim
