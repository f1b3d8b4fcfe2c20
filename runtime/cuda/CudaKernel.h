// A kernel whose code is in a GPU's memory, with the constant part of its launch configuration.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/TensorMaps.h"
#include "runtime/gpu/DriverKernel.h"

namespace nereid::runtime {

/// `tensorMaps` guards what it keeps of the last launches.
class CudaKernel final : public DriverKernel {
public:
  CudaKernel(CudaDevice &device, artifact::Artifact artifact, cuda::Module module, cuda::Function function,
             KernelResources resources, uint32_t residentPrograms);

  bool accepts(Grid grid, std::span<const char> packed) const override;
  /// Whether each multiprocessor gets at most one of the grid's programs.
  bool isOneWave(Grid grid) const;

  std::unique_ptr<const TensorMaps> tensorMaps; ///< null for the plain ABI
  const uint32_t residentPrograms;              ///< of a persistent kernel, on the whole device at once; else 0
  cuda::LaunchConfig config{};                  ///< without grid and stream, which each launch sets
  artifact::Dim3 cluster;

private:
  void fillConfig();
  void addAttribute(cuda::LaunchAttribute attribute);

  cuda::LaunchAttribute attributes[3];
};

} // namespace nereid::runtime
