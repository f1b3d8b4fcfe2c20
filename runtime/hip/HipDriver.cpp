// Opens libamdhip64, finds its functions and formats its results as text.
// SPDX-License-Identifier: MIT
#include "runtime/hip/HipDriver.h"

#include "runtime/gpu/ProcessDriver.h"
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
  if (driver->table.hipDriverGetVersion)
    driver->table.hipDriverGetVersion(&driver->hipVersion);
  if (missing)
    return Error{"hip-version", "the HIP runtime " + hipVersionText(driver->hipVersion) + " lacks " + missing +
                                    "; ROCm 6.0 or newer is needed, so update it"};
  if (auto ok = driver->initialize(); !ok)
    return ok.error();
  return driver;
}

HipDriver::~HipDriver() = default;

Expected<void> HipDriver::initialize() {
  constexpr const char *kHidden = "; HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide it";
  int count = 0;
  const char *call = "hipInit";
  Result result = table.hipInit(0);
  if (result == Success) {
    call = "hipGetDeviceCount";
    result = table.hipGetDeviceCount(&count);
  }
  if (result == NoDevice)
    return Error{"hip-no-device", "the HIP runtime finds no GPU: " + describe(call, result) + kHidden};
  if (result != Success)
    return Error{"hip-call", "the HIP runtime cannot be initialised: " + describe(call, result)};
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
  if (ordinal >= 0 && ordinal < deviceCount())
    return devices[static_cast<size_t>(ordinal)].get();
  return Error{"hip-no-device", "there is no device hip:" + std::to_string(ordinal) + "; the HIP runtime sees " +
                                    std::to_string(deviceCount())};
}

std::string HipDriver::describe(const char *call, Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (table.hipDrvGetErrorName(result, &name) != Success || !name)
    return "result " + std::to_string(result) + " from " + call;
  if (table.hipDrvGetErrorString(result, &text) != Success || !text)
    text = "error";
  return std::string(text) + " (" + name + " from " + call + ")";
}

//--- The driver of this process ----------------------------------------------------------------

static ProcessDriver<HipDriver> &process() {
  static auto *const instance = new ProcessDriver<HipDriver>;
  return *instance;
}

void setHipLibrary(const std::string &path) { process().setLibrary(path); }
bool hasHipLibrary() { return process().hasLibrary(); }
bool isHipInitialized() { return process().isInitialized(); }
Expected<HipDriver *> hipDriver() { return process().get(); }

Expected<HipDevice *> hipDevice(int ordinal) {
  auto driver = hipDriver();
  if (!driver)
    return driver.error();
  return (*driver)->device(ordinal);
}

} // namespace nereid::runtime
