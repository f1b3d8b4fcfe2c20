// A kernel whose code a GPU's driver has loaded.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/GpuDevice.h"

#include <vector>

namespace nereid::runtime {

/// Unloaded by its destructor. Launches on any thread may read its members: they never change.
class DriverKernel : public Kernel {
public:
  DriverKernel(GpuDevice &device, artifact::Artifact artifact, gpu::Module module, gpu::Function function,
               KernelResources resources);
  ~DriverKernel() override;

  KernelResources resources() const override { return known; }
  void *handle() const override { return function; }
  void *moduleHandle() const override { return module; }

  GpuDevice &loader;
  const gpu::Module module;
  const gpu::Function function;
  const char *const launchName; ///< never freed
  const uint64_t argumentBytes;
  std::vector<uint32_t> offsets; ///< of each parameter in the packed arguments, the two scratch pointers last
  const bool usesScratch;

private:
  const KernelResources known;
};

} // namespace nereid::runtime
