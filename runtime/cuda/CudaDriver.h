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

/// An initialised libcuda. It stays open until the process ends.
class CudaDriver {
public:
  /// Opens the library and initialises it, which creates no context. Codes: `cuda-library`, `cuda-version`,
  /// `cuda-no-device`, `cuda-forked`, `cuda-call`.
  static Expected<std::unique_ptr<CudaDriver>> open(const std::string &library);
  /// Loads the library alone; null where there is none.
  static void *openLibrary(const std::string &path);
  ~CudaDriver();

  const cuda::DriverCalls &calls() const { return table; }
  /// The newest CUDA that it supports: 12080 is 12.8.
  int version() const { return cudaVersion; }
  int deviceCount() const { return static_cast<int>(devices.size()); }
  /// Code: `cuda-no-device`.
  Expected<CudaDevice *> device(int ordinal) const;

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS from cuLaunchKernelEx)"
  std::string describe(const char *call, cuda::Result result) const;
  /// The error of a call, without further explanation.
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

/// Sets the path of libcuda; empty for the system's own. Kernels that another libcuda has loaded stay with it.
void setCudaLibrary(const std::string &path);

/// Whether there is a libcuda. It is not initialised, so a process may fork afterwards.
bool hasCudaLibrary();

/// The driver, opened and initialised at first use; after a failure the next call tries again.
Expected<CudaDriver *> cudaDriver();

/// Whether the driver has been initialised.
bool isCudaInitialized();

Expected<CudaDevice *> cudaDevice(int ordinal);

} // namespace nereid::runtime
