// The scratch memory of one launch, allocated and freed in the order of its stream.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <functional>
#include <vector>

namespace nereid::runtime {

/// The driver's allocator for one stream.
struct StreamAllocator {
  /// `what` begins the text of an error.
  std::function<Expected<uint64_t>(uint64_t bytes, const std::string &what)> allocate;
  std::function<void(uint64_t address)> release;
};

/// A launch's arguments with memory for the scratch pointers that the caller has left null. The memory is released,
/// in stream order, at the end of the object's life: after the launch.
class LaunchScratch {
public:
  explicit LaunchScratch(StreamAllocator allocator) : allocator(std::move(allocator)) {}
  ~LaunchScratch();
  LaunchScratch(const LaunchScratch &) = delete;
  LaunchScratch &operator=(const LaunchScratch &) = delete;

  /// Code: `launch-memory`. `ctas` is the number of CTAs that share the memory.
  Expected<std::span<const char>> fill(const artifact::Artifact &artifact, Grid ctas, std::span<const char> packed);

private:
  const StreamAllocator allocator;
  std::vector<char> block;
  std::vector<uint64_t> addresses;
};

} // namespace nereid::runtime
