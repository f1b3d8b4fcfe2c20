// A kernel whose code is in a GPU's memory, with everything of a launch that does not change.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"

#include <vector>

namespace nereid::runtime {

/// Unloaded when it goes. What it is made of is read by launches on any thread and never changes.
class CudaKernel final : public Kernel {
public:
  CudaKernel(CudaDevice &device, artifact::Artifact artifact, cuda::Module module, cuda::Function function,
             KernelResources resources);
  ~CudaKernel() override;

  KernelResources resources() const override { return known; }
  void *handle() const override { return function; }

  CudaDevice &loader;
  const cuda::Module module;
  const cuda::Function function;
  const char *const launchName; ///< lives for good
  uint64_t argumentBytes = 0;
  std::vector<uint32_t> offsets; ///< of each parameter in the block, the two scratch pointers last
  bool usesScratch = false;
  cuda::LaunchConfig config{}; ///< grid and stream are each launch's own
  artifact::Dim3 cluster;

private:
  void fillConfig();
  void addAttribute(cuda::LaunchAttribute attribute);

  KernelResources known;
  cuda::LaunchAttribute attributes[3];
};

} // namespace nereid::runtime
