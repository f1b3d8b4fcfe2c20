// The bindings that the drivers of NVIDIA's and of AMD's GPUs share.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Kernel.h"
#include "runtime/gpu/GpuDevice.h"

#include <string>

namespace nereid::python {

/// The driver of a kind that this process uses, as the shared bindings call it.
struct GpuApi {
  const artifact::TargetInfo &target;
  DeviceKind kind;
  void (*setLibrary)(const std::string &path);
  bool (*hasLibrary)();
  bool (*isInitialized)();
  runtime::Expected<runtime::GpuDriver *> (*open)();
};

template <typename Driver> constexpr GpuApi apiOf(const artifact::TargetInfo &target, DeviceKind kind) {
  return {target,
          kind,
          [](const std::string &path) { Driver::process().setLibrary(path); },
          [] { return Driver::process().hasLibrary(); },
          [] { return Driver::process().isInitialized(); },
          []() -> runtime::Expected<runtime::GpuDriver *> {
            auto driver = Driver::process().get();
            return driver ? runtime::Expected<runtime::GpuDriver *>(*driver) : driver.error();
          }};
}

/// Throws the error as a Python exception.
runtime::GpuDevice &deviceAt(const GpuApi &api, int ordinal);

template <typename T> T &&valueOf(runtime::Expected<T> &&result) {
  if (!result)
    raiseRuntimeError(result.error());
  return std::move(*result);
}

/// Functions and classes of the submodule `driver`. Nothing is initialised before the first call that needs it.
void bindGpuDriver(nb::module_ &driver, const GpuApi &api);

} // namespace nereid::python
