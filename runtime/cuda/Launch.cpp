// Launches a kernel on a stream.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaKernel.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/gpu/LaunchGrid.h"
#include "runtime/gpu/LaunchScratch.h"

#include <algorithm>

namespace nereid::runtime {

using namespace cuda;

static constexpr size_t kScratchPointers = 2; // the last parameters

static std::string quoted(const CudaKernel &kernel) { return quoted(kernel.artifact()); }

//--- Launching ---------------------------------------------------------------------------------

namespace {
/// An array on the stack, or in allocated memory where it has more elements than usual.
template <typename Element, size_t usual> class LaunchArray {
public:
  explicit LaunchArray(size_t count) : many(count > usual ? count : 0) {}
  Element *data() { return many.empty() ? few : many.data(); }

private:
  Element few[usual];
  std::vector<Element> many;
};
} // namespace

Expected<void> CudaDevice::makeTensorMaps(const CudaKernel &kernel, Grid grid, std::span<const char> packed,
                                          TensorMap *maps) const {
  const auto [fit, result] = kernel.tensorMaps->make(packed, kernel.isOneWave(grid), maps);
  if (fit == TensorMaps::Fit::Yes)
    return {};
  if (fit == TensorMaps::Fit::DriverFailed)
    return failure("launch-failed", quoted(kernel) + " cannot be launched on " + name(),
                   {"cuTensorMapEncodeTiled", result});
  return Error{"launch-arguments",
               quoted(kernel) + " was compiled for other arguments: " + kernel.tensorMaps->reason(packed)};
}

/// Makes the grid one of as many CTAs as run at once, which take programs by a pair of counters.
Expected<void> CudaDevice::sharePrograms(const CudaKernel &kernel, Grid grid, LaunchConfig &config,
                                         PersistentArguments &arguments) {
  const auto what = [&] { return quoted(kernel) + " cannot be launched on " + name(); };
  const auto programs = programCount(grid);
  if (!programs)
    return Error{"launch-arguments", what() + ": it counts at most 2147483647 programs"};
  const artifact::Dim3 &cluster = kernel.cluster;
  config.gridX = std::min(*programs, kernel.residentPrograms) * cluster[0] * cluster[1] * cluster[2];
  config.gridY = config.gridZ = 1;
  arguments = {grid.x, grid.y, grid.z, 0};
  CaptureStatus status = CaptureStatus::None;
  if (config.stream) // the default stream cannot be captured
    if (Result result = owner.calls().cuStreamIsCapturing(config.stream, &status); result != Success)
      return failure("launch-failed", what(), {"cuStreamIsCapturing", result});
  Result result = Success;
  arguments.counters = status == CaptureStatus::None ? counters.next() : counters.nextInGraph(result);
  if (result != Success)
    return failure("launch-memory", "there is no memory for the counters of " + quoted(kernel),
                   {owner.calls().allocate.name, result});
  return {};
}

Expected<void> CudaDevice::enqueue(const CudaKernel &kernel, Grid grid, LaunchConfig &config,
                                   std::span<const char> packed) {
  constexpr size_t kPersistentParameters = 4;
  const size_t mapCount = kernel.tensorMaps ? kernel.tensorMaps->count() : 0;
  const size_t argumentCount = kernel.offsets.size() - kScratchPointers;
  LaunchArray<void *, 80> list(kernel.offsets.size() + mapCount + kPersistentParameters);
  LaunchArray<TensorMap, 4> maps(mapCount);
  PersistentArguments shared;
  void **next = list.data();
  const auto addPacked = [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      *next++ = const_cast<char *>(packed.data()) + kernel.offsets[i]; // the driver only reads
  };
  addPacked(0, argumentCount);
  if (kernel.tensorMaps)
    if (auto done = makeTensorMaps(kernel, grid, packed, maps.data()); !done)
      return done;
  for (size_t i = 0; i < mapCount; ++i)
    *next++ = maps.data() + i;
  if (kernel.residentPrograms) {
    if (auto done = sharePrograms(kernel, grid, config, shared); !done)
      return done;
    for (void *each : {static_cast<void *>(&shared.gridX), static_cast<void *>(&shared.gridY),
                       static_cast<void *>(&shared.gridZ), static_cast<void *>(&shared.counters)})
      *next++ = each;
  }
  addPacked(argumentCount, kernel.offsets.size());
  return start(kernel, config, list.data());
}

Expected<void> CudaDevice::start(const CudaKernel &kernel, const LaunchConfig &config, void **parameters) {
  const uint64_t entry = history.record(kernel.launchName);
  const Result result = owner.calls().cuLaunchKernelEx(&config, kernel.function, parameters, nullptr);
  if (result == Success)
    return {};
  history.takeBack(entry, kernel.launchName);
  Error error = launchError(kernel, {config.gridX, config.gridY, config.gridZ}, {"cuLaunchKernelEx", result});
  if (result == NotInitialized)
    error.text += "; a process that was forked from one that had used CUDA cannot use it: start it by `spawn`";
  return error;
}

Expected<void> CudaDevice::launchOn(const DriverKernel &base, Grid grid, Stream stream, std::span<const char> packed) {
  const auto &kernel = static_cast<const CudaKernel &>(base);
  LaunchConfig config = kernel.config;
  config.stream = stream;
  const std::optional<Grid> ctas = ctasOf(grid, kernel.cluster);
  if (!ctas)
    return gridError(kernel.artifact(), grid);
  config.gridX = ctas->x, config.gridY = ctas->y, config.gridZ = ctas->z;
  // The first device is the one that the CUDA runtime gives a thread at its first call. Without a context of its own
  // the thread would switch twice at each launch.
  const CurrentScope scope(*this, primary.load(std::memory_order_relaxed), /*staysIfNone=*/ordinal() == 0);
  if (scope.outcome.result != Success)
    return failure("launch-failed", quoted(kernel) + " cannot be launched on " + name(), scope.outcome);
  return withScratch(*this, kernel, *ctas, stream, packed,
                     [&](std::span<const char> block) { return enqueue(kernel, grid, config, block); });
}

} // namespace nereid::runtime
