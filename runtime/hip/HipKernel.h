// A kernel whose code is in an AMD GPU's memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/hip/HipDevice.h"

#include <vector>

namespace nereid::runtime {

/// Unloaded by its destructor. Launches on any thread may read its members: they never change.
class HipKernel final : public Kernel {
public:
  HipKernel(HipDevice &device, artifact::Artifact artifact, hip::Module module, hip::Function function,
            KernelResources resources);
  ~HipKernel() override;

  KernelResources resources() const override { return known; }
  void *handle() const override { return function; }

  HipDevice &loader;
  const hip::Module module;
  const hip::Function function;
  const char *const launchName; ///< never freed
  const uint64_t argumentBytes;
  std::vector<uint32_t> offsets; ///< of each parameter in the packed arguments, the two scratch pointers last

private:
  KernelResources known;
};

} // namespace nereid::runtime
