// Opens libcuda, finds its functions and formats its results as text.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaDriver.h"

#include "runtime/cuda/CudaDevice.h"

#include <dlfcn.h>

namespace nereid::runtime {

using namespace cuda;

// cuLaunchKernelEx with all attributes used here came with CUDA 11.8.
static constexpr int kOldestVersion = 11080;
static constexpr const char *kSystemLibrary = "libcuda.so.1";
static constexpr int kLegacyDefaultStream = 1; // a flag of cuGetProcAddress

std::string cudaVersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

//--- Finding functions -------------------------------------------------------------------------

namespace {
/// Looks up functions by name and version: the library has several versions of some.
class Symbols {
public:
  explicit Symbols(void *library) : library(library) {
    auto at = dlsym(library, "cuGetProcAddress_v2");
    byVersionWithStatus = reinterpret_cast<decltype(byVersionWithStatus)>(at);
    byVersion = reinterpret_cast<decltype(byVersion)>(dlsym(library, "cuGetProcAddress"));
  }

  void *find(const char *name, int version) const {
    void *address = nullptr;
    int status = 0;
    if (byVersionWithStatus)
      byVersionWithStatus(name, &address, version, kLegacyDefaultStream, &status);
    else if (byVersion)
      byVersion(name, &address, version, kLegacyDefaultStream);
    else
      address = dlsym(library, name);
    return address;
  }

private:
  void *library;
  Result (*byVersionWithStatus)(const char *, void **, int, uint64_t, int *);
  Result (*byVersion)(const char *, void **, int, uint64_t);
};
} // namespace

/// Fills the table; returns the name of a missing function, or null.
static const char *findCalls(void *library, DriverCalls &table) {
  const Symbols symbols(library);
  const char *missing = nullptr;
  auto find = [&](auto &call, const char *name, int version, bool isNewer) {
    call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(symbols.find(name, version));
    if (!call && !missing && !isNewer)
      missing = name;
  };
#define NEREID_SHARED_CALL(role, cuda, version, hip, parameters)                                                       \
  find(table.role.function, table.role.name = #cuda, version, false);
#include "runtime/gpu/SharedCalls.def"
#define NEREID_CUDA_CALL(name, version, parameters) find(table.name, #name, version, false);
#define NEREID_CUDA_NEWER_CALL(name, version, parameters) find(table.name, #name, version, true);
#include "runtime/cuda/DriverCalls.def"
  return missing;
}

void *CudaDriver::openLibrary(const std::string &path) {
  return dlopen(path.empty() ? kSystemLibrary : path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

//--- Opening -----------------------------------------------------------------------------------

CudaDriver::CudaDriver()
    : GpuDriver(table, {.backend = "cuda",
                        .driver = "the driver",
                        .waitFailure = "cannot wait for ",
                        .blockingVariable = "CUDA_LAUNCH_BLOCKING"}) {}

Expected<std::unique_ptr<CudaDriver>> CudaDriver::open(const std::string &path) {
  void *library = openLibrary(path);
  if (!library) {
    const char *why = dlerror();
    return Error{"cuda-library", std::string("the NVIDIA driver cannot be loaded: ") +
                                     (why ? why : "no reason is given") +
                                     "; install the driver, or name the path of its libcuda.so.1"};
  }
  std::unique_ptr<CudaDriver> driver(new CudaDriver);
  const char *missing = findCalls(library, driver->table);
  if (driver->table.driverVersion.function)
    driver->table.driverVersion(&driver->interfaceVersion);
  if (missing || driver->version() < kOldestVersion)
    return Error{"cuda-version", "the NVIDIA driver is made for CUDA " + cudaVersionText(driver->version()) +
                                     (missing ? std::string(" and lacks ") + missing : "") + "; CUDA " +
                                     cudaVersionText(kOldestVersion) + " or newer is needed, so update the driver"};
  if (auto ok = driver->initialize(); !ok)
    return ok.error();
  return driver;
}

Expected<void> CudaDriver::initialize() {
  const Result result = table.initialize(0);
  if (result == Success)
    return readDevices();
  const std::string what = describe({table.initialize.name, result});
  if (result == NoDevice)
    return Error{"cuda-no-device", "the NVIDIA driver finds no GPU: " + what + "; CUDA_VISIBLE_DEVICES may hide it"};
  if (result == NotInitialized)
    return Error{"cuda-forked", "CUDA cannot be used in a process that was forked from one that had used it: " + what +
                                    "; start such processes by `spawn`"};
  if (result == StubLibrary)
    return Error{"cuda-library", "this libcuda.so.1 is the toolkit's stand-in, not the driver's: " + what +
                                     "; name the path of the driver's own"};
  return Error{"cuda-call", "the NVIDIA driver cannot be initialised: " + what};
}

Expected<void> CudaDriver::readDevices() {
  int count = 0;
  if (Result result = table.countDevices(&count); result != Success)
    return failure({table.countDevices.name, result});
  if (count == 0)
    return Error{"cuda-no-device", "the NVIDIA driver finds no GPU; CUDA_VISIBLE_DEVICES may hide it"};
  for (int ordinal = 0; ordinal < count; ++ordinal)
    devices.push_back(std::make_unique<CudaDevice>(*this, ordinal));
  return {};
}

Expected<CudaDevice *> CudaDriver::device(int ordinal) const {
  auto found = find(ordinal);
  return found ? Expected<CudaDevice *>(static_cast<CudaDevice *>(*found)) : found.error();
}

ProcessDriver<CudaDriver> &CudaDriver::process() {
  static auto *const instance = new ProcessDriver<CudaDriver>;
  return *instance;
}

} // namespace nereid::runtime
