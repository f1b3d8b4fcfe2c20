// Makes a device the calling thread's current one for the length of a scope.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/DriverAbi.h"

namespace nereid::runtime {

/// `Device` has `getCurrent` and `setCurrent`, as GpuDevice has; for a final class they cost no indirect call.
template <typename Device> class CurrentScope {
public:
  /// With `staysIfNone` a thread that has nothing current keeps `wanted`.
  CurrentScope(const Device &device, void *wanted, bool staysIfNone = false)
      : device(device), outcome(device.getCurrent(previous)) {
    if (outcome.result != gpu::Success || previous == wanted)
      return;
    outcome = device.setCurrent(wanted);
    changed = outcome.result == gpu::Success && (previous || !staysIfNone);
  }
  ~CurrentScope() {
    if (changed)
      device.setCurrent(previous);
  }
  CurrentScope(const CurrentScope &) = delete;
  CurrentScope &operator=(const CurrentScope &) = delete;

private:
  const Device &device;
  void *previous = nullptr;
  bool changed = false;

public:
  /// The result of the switch, 0 for success; the call's name is for the message.
  gpu::CallResult outcome;
};

} // namespace nereid::runtime
