// Defaults of a kernel's virtual functions, and the list of devices.
// SPDX-License-Identifier: MIT
#include "runtime/Device.h"

#include "runtime/cpu/CpuDevice.h"
#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/CudaDriver.h"

#include <algorithm>

namespace nereid::runtime {

Kernel::~Kernel() = default;
Device::~Device() = default;

KernelResources Kernel::resources() const {
  return {std::max(loaded.registers, 1u), loaded.spills, owner.properties().maxThreadsPerBlock};
}

Expected<Device *> deviceFor(const artifact::Target &target, int ordinal) {
  if (target.backend == "cpu")
    return &cpuDevice();
  if (target.backend != "cuda")
    return Error{"load-target", "no device of kind `" + target.backend + "` can run a kernel here"};
  auto device = cudaDevice(ordinal);
  if (!device)
    return device.error();
  return *device;
}

} // namespace nereid::runtime
