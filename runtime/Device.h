// The interface of every device: load an artifact and launch the kernel in it.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "artifact/Expected.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace nereid::runtime {

using artifact::Error;
using artifact::Expected;

/// Number of programs along each axis; no program runs where one of them is zero.
struct Grid {
  uint32_t x = 1;
  uint32_t y = 1;
  uint32_t z = 1;
};

/// The device properties from which kernels' grids are sized. All are positive on every device, so that occupancy
/// arithmetic written for a GPU works on a CPU.
struct DeviceProperties {
  std::string name;
  uint32_t multiprocessorCount = 1;
  uint32_t maxNumRegs = 1;
  uint64_t maxSharedMem = 1;
  uint32_t warpSize = 1;
  uint32_t maxThreadsPerSm = 1;
  uint32_t smClockRateKhz = 1;
  uint32_t memClockRateKhz = 1;
  uint32_t memBusWidthBits = 1;
  uint32_t maxThreadsPerBlock = 1;
  uint64_t lastLevelCacheBytes = 1;
};

/// The resources of its device that a loaded kernel uses.
struct KernelResources {
  uint32_t registers = 1;  ///< per thread
  uint32_t spills = 0;     ///< 32-bit registers spilled per thread
  uint32_t maxThreads = 1; ///< limit for a CTA
};

class Device;

/// A kernel in a device's memory, ready to run. The launching code keeps a reference until the launch is over.
class Kernel {
public:
  virtual ~Kernel();
  Kernel(const Kernel &) = delete;
  Kernel &operator=(const Kernel &) = delete;

  const artifact::Artifact &artifact() const { return loaded; }
  /// The device that loaded it; no other device can launch it.
  const Device &device() const { return owner; }
  virtual KernelResources resources() const;
  /// Whether the code may run with this grid and these packed arguments: an artifact of the ABI `own` has conditions on
  /// them. A launch with others fails.
  virtual bool accepts(Grid grid, std::span<const char> packed) const {
    (void)grid;
    (void)packed;
    return true;
  }
  /// The handle of the kernel in the device's own interface; null where it has none.
  virtual void *handle() const { return nullptr; }
  /// That of the code that was loaded with it; null where it has none.
  virtual void *moduleHandle() const { return nullptr; }

protected:
  Kernel(const Device &device, artifact::Artifact artifact) : owner(device), loaded(std::move(artifact)) {}

private:
  const Device &owner;
  artifact::Artifact loaded;
};

class Device {
public:
  virtual ~Device();

  virtual const DeviceProperties &properties() const = 0;

  /// Loads the artifact's binary onto the device. Codes: `load-target`, `load-feature`, `load-abi`, `load-binary`,
  /// `load-entry`, `load-driver`, `out-of-resources`.
  virtual Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) = 0;

  /// Runs every program of the grid. `packed` is the packed arguments of the plain ABI (`artifact::packedBytes` long);
  /// its two scratch pointers are filled in here where the kernel needs scratch. `stream` is the device's queue; a CPU
  /// has none and is done on return. Any number of threads may launch at the same time. Codes: `launch-device`,
  /// `launch-grid`, `launch-arguments`, `launch-memory`, `launch-failed`, `launch-earlier` (the device no longer works
  /// because an earlier kernel failed).
  virtual Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) = 0;
};

/// The device that runs kernels of that target; `ordinal` selects one of several.
Expected<Device *> deviceFor(const artifact::Target &target, int ordinal);

} // namespace nereid::runtime
