// Keeps forks and the dynamic loader apart: its locks are not reset in a child, which has no thread to release them.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace nereid::runtime {

/// Held by a thread while it is inside the loader (dlopen, dlsym, dl_iterate_phdr). A fork waits for it, a limited
/// time: a library's constructor may fork while the holder waits for that very library to be loaded.
class LoaderGate {
public:
  /// Waits for others; gets in unless the loader is lost.
  LoaderGate();
  /// Gets in only where nobody else is and no fork is under way.
  explicit LoaderGate(std::try_to_lock_t);
  ~LoaderGate();
  LoaderGate(const LoaderGate &) = delete;
  LoaderGate &operator=(const LoaderGate &) = delete;

  bool isHeld() const { return held; }
  /// Whether this process is the child of a fork that waited in vain: to enter the loader may never return here.
  static bool loaderIsLost();

private:
  const bool held;
};

} // namespace nereid::runtime
