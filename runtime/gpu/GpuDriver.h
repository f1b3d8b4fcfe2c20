// A driver library of GPUs that is open and initialised: its functions, devices and texts.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"
#include "runtime/gpu/DriverAbi.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::runtime {

class GpuDevice;

/// The words by which messages of one driver differ from those of another.
struct DriverWords {
  const char *backend;          ///< "cuda": begins codes and the names of devices
  const char *driver;           ///< "the driver"
  const char *waitFailure;      ///< begins the text of a wait for a device that fails
  const char *blockingVariable; ///< set to 1, it makes a launch wait for its kernel
};

/// An open library; it stays open until the process ends.
class GpuDriver {
public:
  GpuDriver(const GpuDriver &) = delete;
  GpuDriver &operator=(const GpuDriver &) = delete;

  const DriverWords &words() const { return ownWords; }
  const gpu::SharedCalls &sharedCalls() const { return shared; }
  /// The version of the interface, as the driver tells it.
  int version() const { return interfaceVersion; }
  int deviceCount() const { return static_cast<int>(devices.size()); }
  /// Code: `BACKEND-no-device`.
  Expected<GpuDevice *> find(int ordinal) const;

  /// "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS from cuLaunchKernelEx)"
  std::string describe(gpu::CallResult failed) const;
  /// The error of a call, without further explanation. Code: `BACKEND-call`.
  Error failure(gpu::CallResult failed) const;

protected:
  /// `shared` is a part of the driver's own table, which may still be empty.
  GpuDriver(const gpu::SharedCalls &shared, const DriverWords &words);
  ~GpuDriver();

  int interfaceVersion = 0;
  std::vector<std::unique_ptr<GpuDevice>> devices;

private:
  const gpu::SharedCalls &shared;
  const DriverWords ownWords;
};

} // namespace nereid::runtime
