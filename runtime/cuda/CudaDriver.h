// NVIDIA's driver as a table of functions, found in libcuda at first use.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaAbi.h"
#include "runtime/gpu/GpuDriver.h"
#include "runtime/gpu/ProcessDriver.h"

namespace nereid::runtime {

namespace cuda {
struct DriverCalls : SharedCalls {
#define NEREID_CUDA_CALL(name, version, parameters) Result(*name) parameters = nullptr;
#include "runtime/cuda/DriverCalls.def"
};
} // namespace cuda

class CudaDevice;

/// An initialised libcuda. Its version 12080 is CUDA 12.8, the newest that it supports.
class CudaDriver : public GpuDriver {
public:
  using Device = CudaDevice;
  /// The driver of this process.
  static ProcessDriver<CudaDriver> &process();
  /// Opens the library and initialises it, which creates no context. Codes: `cuda-library`, `cuda-version`,
  /// `cuda-no-device`, `cuda-forked`, `cuda-call`.
  static Expected<std::unique_ptr<CudaDriver>> open(const std::string &library);
  /// Loads the library alone; null where there is none.
  static void *openLibrary(const std::string &path);

  const cuda::DriverCalls &calls() const { return table; }
  /// Code: `cuda-no-device`.
  Expected<CudaDevice *> device(int ordinal) const;

private:
  CudaDriver();
  Expected<void> initialize();
  Expected<void> readDevices();

  cuda::DriverCalls table;
};

/// "12.8" for 12080.
std::string cudaVersionText(int version);

} // namespace nereid::runtime
