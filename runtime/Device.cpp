// Defaults of a kernel's virtual functions, and the list of devices.
// SPDX-License-Identifier: MIT
#include "runtime/Device.h"

#include "artifact/TargetInfo.h"
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/hip/HipDevice.h"
#include "runtime/sim/SimDevice.h"

#include <algorithm>

namespace nereid::runtime {

Kernel::~Kernel() = default;
Device::~Device() = default;

KernelResources Kernel::resources() const {
  return {std::max(loaded.registers, 1u), loaded.spills, owner.properties().maxThreadsPerBlock};
}

namespace {
struct KnownDevice {
  const artifact::TargetInfo &target;
  Expected<Device *> (*open)(int ordinal);
};
} // namespace

static Expected<Device *> openCpu(int) { return &cpuDevice(); }

template <typename Driver> static Expected<Device *> openGpu(int ordinal) {
  auto device = Driver::process().device(ordinal);
  if (!device)
    return device.error();
  return *device;
}

static constexpr KnownDevice kDevices[] = {
    {artifact::kCpu, openCpu}, {artifact::kCuda, openGpu<CudaDriver>}, {artifact::kHip, openGpu<HipDriver>}};

Expected<Device *> deviceFor(const artifact::Target &target, int ordinal) {
  if (sim::isSimulated(target)) {
    if (Device *device = sim::findSimDevice(target))
      return device;
    return Error{"load-target", "the GPU `" + target.arch + "` is not simulated"};
  }
  for (const KnownDevice &known : kDevices)
    if (target.backend == known.target.name)
      return known.open(ordinal);
  return Error{"load-target", "no device of kind `" + target.backend + "` can run a kernel here"};
}

} // namespace nereid::runtime
