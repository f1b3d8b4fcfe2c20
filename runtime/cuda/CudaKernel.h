// A kernel whose code is in a GPU's memory, with the constant part of its launch configuration.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"

#include <vector>

namespace nereid::runtime {

/// Unloaded by its destructor. Its members never change, so launches on any thread may read them.
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
  const char *const launchName; ///< never freed
  uint64_t argumentBytes = 0;
  std::vector<uint32_t> offsets; ///< of each parameter in the packed arguments, the two scratch pointers last
  bool usesScratch = false;
  cuda::LaunchConfig config{}; ///< without grid and stream, which each launch sets
  artifact::Dim3 cluster;

private:
  void fillConfig();
  void addAttribute(cuda::LaunchAttribute attribute);

  KernelResources known;
  cuda::LaunchAttribute attributes[3];
};

} // namespace nereid::runtime
