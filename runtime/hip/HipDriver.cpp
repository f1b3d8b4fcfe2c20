// Opens libamdhip64, finds its functions and formats its results as text.
// SPDX-License-Identifier: MIT
#include "runtime/hip/HipDriver.h"

#include "runtime/hip/HipDevice.h"

#include <dlfcn.h>

namespace nereid::runtime {

using namespace hip;

std::string hipVersionText(int version) {
  return std::to_string(version / 10000000) + "." + std::to_string(version / 100000 % 100);
}

/// Fills the table; returns the name of a missing function, or null.
static const char *findCalls(void *library, HipCalls &table) {
  const char *missing = nullptr;
  const auto find = [&](auto &call, const char *name) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
    if (!call && !missing)
      missing = name;
  };
#define NEREID_SHARED_CALL(role, cuda, version, hip, parameters) find(table.role.function, table.role.name = #hip);
#include "runtime/gpu/SharedCalls.def"
#define NEREID_HIP_CALL(name, parameters) find(table.name, #name);
#include "runtime/hip/HipCalls.def"
  return missing;
}

void *HipDriver::openLibrary(const std::string &path) {
  if (!path.empty())
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
      return library;
  return dlopen("libamdhip64.so", RTLD_NOW | RTLD_LOCAL);
}

HipDriver::HipDriver()
    : GpuDriver(table, {.backend = "hip",
                        .driver = "the HIP runtime",
                        .waitFailure = "hipDeviceSynchronize failed on ",
                        .blockingVariable = "HIP_LAUNCH_BLOCKING"}) {}

Expected<std::unique_ptr<HipDriver>> HipDriver::open(const std::string &path) {
  void *library = openLibrary(path);
  if (!library) {
    const char *why = dlerror();
    return Error{"hip-library", std::string("AMD's HIP runtime cannot be loaded: ") +
                                    (why ? why : "no reason is given") +
                                    "; install ROCm, or name the path of its libamdhip64.so"};
  }
  std::unique_ptr<HipDriver> driver(new HipDriver);
  const char *missing = findCalls(library, driver->table);
  if (driver->table.driverVersion.function)
    driver->table.driverVersion(&driver->interfaceVersion);
  if (missing)
    return Error{"hip-version", "the HIP runtime " + hipVersionText(driver->version()) + " lacks " + missing +
                                    "; ROCm 6.0 or newer is needed, so update it"};
  if (auto ok = driver->initialize(); !ok)
    return ok.error();
  return driver;
}

Expected<void> HipDriver::initialize() {
  constexpr const char *kHidden = "; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide it";
  int count = 0;
  CallResult done = {table.initialize.name, table.initialize(0)};
  if (done.result == Success)
    done = {table.countDevices.name, table.countDevices(&count)};
  if (done.result == NoDevice)
    return Error{"hip-no-device", "the HIP runtime finds no GPU: " + describe(done) + kHidden};
  if (done.result != Success)
    return Error{"hip-call", "the HIP runtime cannot be initialised: " + describe(done)};
  if (count == 0)
    return Error{"hip-no-device", std::string("the HIP runtime finds no GPU") + kHidden};
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    auto device = HipDevice::open(*this, ordinal);
    if (!device)
      return device.error();
    devices.push_back(std::move(*device));
  }
  return {};
}

Expected<HipDevice *> HipDriver::device(int ordinal) const {
  auto found = find(ordinal);
  return found ? Expected<HipDevice *>(static_cast<HipDevice *>(*found)) : found.error();
}

ProcessDriver<HipDriver> &HipDriver::process() {
  static auto *const instance = new ProcessDriver<HipDriver>;
  return *instance;
}

} // namespace nereid::runtime
