// Finds a driver's devices and formats its results as text.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/GpuDriver.h"

#include "runtime/gpu/GpuDevice.h"

namespace nereid::runtime {

GpuDriver::GpuDriver(const gpu::SharedCalls &shared, const DriverWords &words) : shared(shared), ownWords(words) {}
GpuDriver::~GpuDriver() = default;

Expected<GpuDevice *> GpuDriver::find(int ordinal) const {
  if (ordinal >= 0 && ordinal < deviceCount())
    return devices[static_cast<size_t>(ordinal)].get();
  const std::string backend = ownWords.backend;
  return Error{backend + "-no-device", "there is no device " + backend + ":" + std::to_string(ordinal) + "; " +
                                           ownWords.driver + " sees " + std::to_string(deviceCount())};
}

std::string GpuDriver::describe(gpu::CallResult failed) const {
  const char *name = nullptr, *text = nullptr;
  if (shared.errorName(failed.result, &name) != gpu::Success || !name)
    return "result " + std::to_string(failed.result) + " from " + failed.call;
  if (shared.errorText(failed.result, &text) != gpu::Success || !text)
    text = "error";
  return std::string(text) + " (" + name + " from " + failed.call + ")";
}

Error GpuDriver::failure(gpu::CallResult failed) const {
  return {std::string(ownWords.backend) + "-call", describe(failed)};
}

} // namespace nereid::runtime
