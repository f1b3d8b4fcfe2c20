// NVIDIA's driver as a table of functions, found in libcuda at first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/cuda/CudaAbi.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

namespace cuda {
struct DriverCalls {
#define NEREID_CUDA_CALL(name, version, parameters) Result(*name) parameters = nullptr;
#include "runtime/cuda/DriverCalls.def"
};
} // namespace cuda

class CudaDevice;

/// A libcuda that is initialised. It stays open until the process ends.
class CudaDriver {
public:
  /// Opens the library and initialises it, which makes no context. Codes:
  /// `cuda-library`, `cuda-version`, `cuda-no-device`, `cuda-forked`, `cuda-call`.
  static Expected<std::unique_ptr<CudaDriver>> open(const std::string &library);
  ~CudaDriver();

  const cuda::DriverCalls &calls() const { return table; }
  /// The newest CUDA that it knows: 12080 is 12.8.
  int version() const { return cudaVersion; }
  int deviceCount() const { return static_cast<int>(devices.size()); }
  /// Code: `cuda-no-device`.
  Expected<CudaDevice *> device(int ordinal) const;

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS from cuLaunchKernelEx)"
  std::string describe(const char *call, cuda::Result result) const;
  /// The error of a call whose failure needs no further words.
  Error failure(const char *call, cuda::Result result) const;

private:
  CudaDriver() = default;
  Expected<void> initialize();
  Expected<void> readDevices();

  cuda::DriverCalls table;
  int cudaVersion = 0;
  std::vector<std::unique_ptr<CudaDevice>> devices;
};

/// "12.8" for 12080.
std::string cudaVersionText(int version);

//--- The driver of this process ----------------------------------------------------------------

/// Where libcuda is looked for: a path, or nothing for the system's own. Kernels
/// that another library has loaded stay with it.
void setCudaLibrary(const std::string &path);

/// Whether there is a libcuda. Nothing is initialised, so a process may fork after it.
bool hasCudaLibrary();

/// The driver, opened and initialised at first use; a failure is tried again at the next.
Expected<CudaDriver *> cudaDriver();

/// Whether that has happened.
bool isCudaInitialized();

Expected<CudaDevice *> cudaDevice(int ordinal);

} // namespace nereid::runtime
