// One NVIDIA GPU: its properties, its context, and the kernels that are loaded and launched there.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDriver.h"
#include "runtime/cuda/LaunchCounters.h"
#include "runtime/gpu/GpuDevice.h"

#include <atomic>
#include <mutex>

namespace nereid::runtime {

class CudaKernel;

/// The parameters of a persistent kernel after its tensor maps.
struct PersistentArguments {
  uint32_t gridX = 0, gridY = 0, gridZ = 0;
  cuda::Address counters = 0;
};

class CudaDevice final : public GpuDevice {
public:
  CudaDevice(CudaDriver &driver, int ordinal);

  std::string arch() const override { return std::to_string(capabilityNumber); }
  /// 90 for compute capability 9.0.
  int capability() const { return capabilityNumber; }
  const CudaDriver &driver() const { return owner; }

  /// The primary context, which PyTorch and the CUDA runtime use too; retained at first use and kept.
  Expected<cuda::Context> context();

  Expected<PointerInfo> pointerInfo(uint64_t address) override;
  bool canAccess(uint64_t address) override;

  Expected<void *> wantedCurrent() override;
  gpu::CallResult getCurrent(void *&current) const override;
  gpu::CallResult setCurrent(void *current) const override;

protected:
  Expected<void> checkArtifact(const artifact::Artifact &artifact) const override;
  Expected<cuda::Module> loadModule(const artifact::Artifact &artifact) const override;
  Expected<std::shared_ptr<Kernel>> makeKernel(artifact::Artifact artifact, cuda::Module module,
                                               cuda::Function function) override;
  Expected<void> launchOn(const DriverKernel &kernel, Grid grid, cuda::Stream stream,
                          std::span<const char> packed) override;
  PeerAccess peerAccess(uint64_t address, int owningOrdinal) const override;

private:
  Error loadError(const artifact::Artifact &artifact, cuda::Result result, const char *log) const;
  Expected<void> enable(const artifact::Artifact &artifact, cuda::Function function) const;
  Expected<void> makeTensorMaps(const CudaKernel &kernel, Grid grid, std::span<const char> packed,
                                cuda::TensorMap *maps) const;
  Expected<uint32_t> residentProgramsOf(const artifact::Artifact &artifact, cuda::Function function);
  Expected<void> sharePrograms(const CudaKernel &kernel, Grid grid, cuda::LaunchConfig &config,
                               PersistentArguments &arguments);
  Expected<void> enqueue(const CudaKernel &kernel, Grid grid, cuda::LaunchConfig &config, std::span<const char> packed);
  Expected<void> start(const CudaKernel &kernel, const cuda::LaunchConfig &config, void **parameters);

  CudaDriver &owner;
  int capabilityNumber = 0;
  std::mutex retaining;
  std::atomic<cuda::Context> primary{nullptr};
  LaunchCounters counters;
};

inline gpu::CallResult CudaDevice::getCurrent(void *&current) const {
  cuda::Context context = nullptr;
  const cuda::Result result = owner.calls().cuCtxGetCurrent(&context);
  current = context;
  return {"cuCtxGetCurrent", result};
}

inline gpu::CallResult CudaDevice::setCurrent(void *current) const {
  return {"cuCtxSetCurrent", owner.calls().cuCtxSetCurrent(static_cast<cuda::Context>(current))};
}

} // namespace nereid::runtime
