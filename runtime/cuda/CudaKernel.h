// A kernel whose code is in a GPU's memory, with the constant part of its launch configuration.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDevice.h"
#include "runtime/cuda/TensorMaps.h"

#include <memory>
#include <optional>
#include <vector>

namespace nereid::runtime {

/// The number of programs; nothing for a grid beyond what a persistent kernel counts, 2^31 - 1.
std::optional<uint32_t> programCount(Grid grid);

/// Unloaded by its destructor. Launches on any thread may read its members: they never change, but for what
/// `tensorMaps` keeps, which it guards itself.
class CudaKernel final : public Kernel {
public:
  CudaKernel(CudaDevice &device, artifact::Artifact artifact, cuda::Module module, cuda::Function function,
             KernelResources resources, uint32_t residentPrograms);
  ~CudaKernel() override;

  KernelResources resources() const override { return known; }
  void *handle() const override { return function; }
  bool accepts(Grid grid, std::span<const char> packed) const override;
  /// Whether each multiprocessor gets at most one of the grid's programs.
  bool isOneWave(Grid grid) const;

  CudaDevice &loader;
  const cuda::Module module;
  const cuda::Function function;
  const char *const launchName; ///< never freed
  uint64_t argumentBytes = 0;
  std::vector<uint32_t> offsets; ///< of each parameter in the packed arguments, the two scratch pointers last
  bool usesScratch = false;
  std::unique_ptr<const TensorMaps> tensorMaps; ///< null for the plain ABI
  const uint32_t residentPrograms;              ///< of a persistent kernel, on the whole device at once; else 0
  cuda::LaunchConfig config{};                  ///< without grid and stream, which each launch sets
  artifact::Dim3 cluster;

private:
  void fillConfig();
  void addAttribute(cuda::LaunchAttribute attribute);

  KernelResources known;
  cuda::LaunchAttribute attributes[3];
};

} // namespace nereid::runtime
