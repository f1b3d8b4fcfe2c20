// The scratch memory of one launch, allocated and freed in the order of its stream.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/gpu/DriverKernel.h"

#include <vector>

namespace nereid::runtime {

/// A launch's arguments with memory for the scratch pointers that the caller has left null. The memory is released,
/// in stream order, at the end of the object's life: after the launch.
class LaunchScratch {
public:
  LaunchScratch(const GpuDevice &device, gpu::Stream stream) : device(device), stream(stream) {}
  ~LaunchScratch();
  LaunchScratch(const LaunchScratch &) = delete;
  LaunchScratch &operator=(const LaunchScratch &) = delete;

  /// Code: `launch-memory`. `ctas` is the number of CTAs that share the memory.
  Expected<std::span<const char>> fill(const artifact::Artifact &artifact, Grid ctas, std::span<const char> packed);

private:
  Expected<uint64_t> allocate(uint64_t bytes, const std::string &what) const;

  const GpuDevice &device;
  const gpu::Stream stream;
  std::vector<char> block;
  std::vector<uint64_t> addresses;
};

/// Calls `enqueue` with the packed arguments, and with scratch memory for as long as the call takes if the kernel has
/// some.
template <typename Enqueue>
Expected<void> withScratch(const GpuDevice &device, const DriverKernel &kernel, Grid ctas, gpu::Stream stream,
                           std::span<const char> packed, Enqueue enqueue) {
  if (!kernel.usesScratch)
    return enqueue(packed);
  LaunchScratch scratch(device, stream);
  auto block = scratch.fill(kernel.artifact(), ctas, packed);
  return block ? enqueue(*block) : Expected<void>(block.error());
}

} // namespace nereid::runtime
