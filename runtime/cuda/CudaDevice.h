// One NVIDIA GPU: its properties, its context, and the kernels that are loaded and launched there.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cuda/CudaDriver.h"
#include "runtime/cuda/LaunchCounters.h"
#include "runtime/gpu/CurrentScope.h"
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

  std::string name() const override { return "cuda:" + std::to_string(ordinal()); }
  /// 90 for compute capability 9.0.
  int capability() const { return capabilityNumber; }
  const CudaDriver &driver() const { return owner; }
  const DeviceProperties &properties() const override { return known; }

  /// The primary context, which PyTorch and the CUDA runtime use too; retained at first use and kept.
  Expected<cuda::Context> context();

  Expected<std::shared_ptr<Kernel>> load(artifact::Artifact artifact) override;
  /// Enqueues the launch on the stream (null is the default stream) and returns. Where a kernel needs scratch and the
  /// pointer in the arguments is null, the memory is allocated on the stream for this launch.
  Expected<void> launch(Kernel &kernel, Grid grid, void *stream, std::span<const char> packed) override;

  Expected<void> makeCurrent() override;
  Expected<void> synchronize() override;
  Expected<void> orderStreams(void *earlier, void *later) override;
  Expected<PointerInfo> pointerInfo(uint64_t address) override;
  bool canAccess(uint64_t address) override;
  int siblingCount() const override;
  GpuDevice *sibling(int number) const override;

  Expected<void *> createEvent() override;
  Expected<void> recordEvent(void *event, void *stream) override;
  Expected<float> millisecondsBetween(void *earlier, void *later) override;
  void destroyEvent(void *event) override;

  Expected<uint64_t> allocate(uint64_t bytes) override;
  Expected<void> fillWithZeros(uint64_t address, uint64_t bytes, void *stream) override;
  void release(uint64_t address) override;

  /// A failure of `call`; if an earlier launch caused it, it names the kernels that may have failed.
  Error failure(const std::string &code, const std::string &what, const char *call, cuda::Result result) const;

private:
  int attribute(cuda::DeviceAttribute attribute) const;
  /// A call with the device's context current; its name is for the message.
  template <typename Function, typename... Args>
  Expected<void> call(const char *callName, Function function, Args... args);
  void keepScratch();
  Expected<void> launchWithScratch(const CudaKernel &kernel, Grid grid, cuda::LaunchConfig &config,
                                   std::span<const char> packed);
  Expected<void> makeTensorMaps(const CudaKernel &kernel, Grid grid, std::span<const char> packed,
                                cuda::TensorMap *maps) const;
  Expected<uint32_t> residentProgramsOf(const artifact::Artifact &artifact, cuda::Function function);
  Expected<void> sharePrograms(const CudaKernel &kernel, Grid grid, cuda::LaunchConfig &config,
                               PersistentArguments &arguments);
  Expected<void> enqueue(const CudaKernel &kernel, Grid grid, cuda::LaunchConfig &config, std::span<const char> packed);
  Expected<void> start(const CudaKernel &kernel, const cuda::LaunchConfig &config, void **parameters);
  Error launchError(const CudaKernel &kernel, const cuda::LaunchConfig &config, cuda::Result result) const;

  CudaDriver &owner;
  cuda::Ordinal device = 0;
  int capabilityNumber = 0;
  DeviceProperties known;
  std::mutex retaining;
  std::atomic<bool> keepsScratch{false};
  std::atomic<cuda::Context> primary{nullptr};
  LaunchCounters counters;
};

struct ContextScope : CurrentScope<cuda::Context> {
  ContextScope(const cuda::DriverCalls &calls, cuda::Context wanted)
      : CurrentScope({calls.cuCtxGetCurrent, "cuCtxGetCurrent", calls.cuCtxSetCurrent, "cuCtxSetCurrent"}, wanted) {}
};

} // namespace nereid::runtime
