// Keeps forks out of the dynamic loader: a child inherits the loader's locks, but no thread that releases them.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>

namespace nereid::runtime {

/// Held by a thread while it is inside the loader (dlopen, dlsym, dl_iterate_phdr). A fork waits for it for a limited
/// time: a library's constructor may fork while the holder waits for that library to be loaded.
class LoaderGate {
public:
  /// Waits for other holders; enters unless the loader is lost.
  LoaderGate();
  /// Enters only if there is no other holder and no fork under way.
  explicit LoaderGate(std::try_to_lock_t);
  ~LoaderGate();
  LoaderGate(const LoaderGate &) = delete;
  LoaderGate &operator=(const LoaderGate &) = delete;

  bool isHeld() const { return held; }
  /// Whether this process is the child of a fork whose wait timed out: a call of the loader may never return here.
  static bool loaderIsLost();

private:
  const bool held;
};

} // namespace nereid::runtime
