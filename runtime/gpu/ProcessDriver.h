// A driver of the process: opened at first use, kept until the process ends.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <atomic>
#include <mutex>

namespace nereid::runtime {

/// `Driver` has `openLibrary(path)`, which returns a handle or null, and `open(path)`, which also initialises, and
/// `device(ordinal)`, which returns a `Driver::Device`. Opened drivers are never closed: kernels refer to them.
template <typename Driver> class ProcessDriver {
public:
  /// The path of the library; empty for the system's own. Kernels that another library has loaded stay with it.
  void setLibrary(const std::string &path) {
    std::lock_guard<std::mutex> lock(mutex);
    if (path == library)
      return;
    library = path;
    driver.store(nullptr, std::memory_order_release);
  }

  bool isInitialized() const { return driver.load(std::memory_order_acquire) != nullptr; }

  /// Whether there is a library. It is not initialised, so a process may fork afterwards.
  bool hasLibrary() {
    if (isInitialized())
      return true;
    std::lock_guard<std::mutex> lock(mutex);
    return Driver::openLibrary(library) != nullptr;
  }

  /// The driver, opened and initialised at first use; after a failure the next call tries again.
  Expected<Driver *> get() {
    if (Driver *known = driver.load(std::memory_order_acquire))
      return known;
    std::lock_guard<std::mutex> lock(mutex);
    if (Driver *known = driver.load(std::memory_order_relaxed))
      return known;
    auto opened = Driver::open(library);
    if (!opened)
      return opened.error();
    Driver *fresh = opened->release();
    driver.store(fresh, std::memory_order_release);
    return fresh;
  }

  Expected<typename Driver::Device *> device(int ordinal) {
    auto opened = get();
    if (!opened)
      return opened.error();
    return (*opened)->device(ordinal);
  }

private:
  std::mutex mutex;
  std::string library;
  std::atomic<Driver *> driver{nullptr};
};

} // namespace nereid::runtime
