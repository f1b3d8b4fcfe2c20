// The modules, functions and events that a driver's stub hands out.
// SPDX-License-Identifier: MIT
#pragma once

#include "test/stub/Stub.h"

#include <chrono>
#include <memory>
#include <string_view>
#include <vector>

namespace stub {

struct LoadedFunction {
  KernelImage image;
  int dynamicShared = 48 * 1024;
};

/// A driver's handle of a module is its address, that of a function the address in `functions`.
struct LoadedModule {
  std::vector<std::unique_ptr<LoadedFunction>> functions;

  explicit LoadedModule(const void *image) {
    for (KernelImage &kernel : kernelsOf(image))
      functions.push_back(std::make_unique<LoadedFunction>(LoadedFunction{std::move(kernel)}));
  }
  /// Null where there is none of that name.
  LoadedFunction *find(std::string_view name) const {
    for (const auto &function : functions)
      if (function->image.name == name)
        return function.get();
    return nullptr;
  }
};

/// When an event was recorded last; a driver's handle of an event is its address.
struct EventTime {
  std::chrono::steady_clock::time_point at;

  void record() { at = std::chrono::steady_clock::now(); }
  float millisecondsUntil(const EventTime &later) const {
    return std::chrono::duration<float, std::milli>(later.at - at).count();
  }
};

} // namespace stub
