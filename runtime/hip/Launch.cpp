// Launches a kernel on a stream of an AMD GPU.
// SPDX-License-Identifier: MIT
//
// The packed arguments of the plain ABI are the kernel's argument segment as LLVM lays it out, so they are passed as
// one buffer. A cooperative launch has no such form; it takes a pointer to each.
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/gpu/LaunchScratch.h"
#include "runtime/hip/HipKernel.h"

#include <algorithm>

namespace nereid::runtime {

using namespace hip;

//--- Checks ------------------------------------------------------------------------------------

// HIP counts the threads of each dimension in 32 bits.
static constexpr uint64_t kMaxThreads = uint64_t{1} << 32;

bool HipDevice::fits(const HipKernel &kernel, Grid grid) const {
  const uint64_t extents[] = {grid.x, grid.y, grid.z};
  for (size_t axis = 0; axis < 3; ++axis)
    if (extents[axis] > maxGrid[axis] || extents[axis] * kernel.artifact().blockDims[axis] >= kMaxThreads)
      return false;
  return true;
}

static std::string productText(uint64_t x, uint64_t y, uint64_t z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

Error HipDevice::gridError(const HipKernel &kernel, Grid grid) const {
  const auto limit = [&](size_t axis) {
    return std::min(maxGrid[axis], (kMaxThreads - 1) / std::max(kernel.artifact().blockDims[axis], 1u));
  };
  return {"launch-grid", "a grid of " + productText(grid.x, grid.y, grid.z) + " programs is too large for " +
                             quoted(kernel.artifact()) + "; " + name() + " takes at most " +
                             productText(limit(0), limit(1), limit(2))};
}

Error HipDevice::launchError(const HipKernel &kernel, Grid grid, const char *call, Result result) const {
  const artifact::Artifact &artifact = kernel.artifact();
  Error error = failure("launch-failed", quoted(artifact) + " cannot be launched on " + name(), call, result);
  if (result == CooperativeLaunchTooLarge)
    error.text += "; a cooperative launch needs all of its " + productText(grid.x, grid.y, grid.z) +
                  " blocks on the GPU at once, so make the grid smaller";
  if (result == LaunchOutOfResources)
    error.text += "; its blocks have " + std::to_string(artifact.blockDims[0]) + " threads of " +
                  std::to_string(kernel.resources().registers) + " registers and " +
                  std::to_string(artifact.sharedBytes) + " bytes of shared memory";
  if (result == InvalidHandle || result == InvalidContext)
    error.text += "; the stream given is not one of " + name() + ", or it was destroyed";
  return error;
}

//--- Launching ---------------------------------------------------------------------------------

Expected<void> HipDevice::enqueue(const HipKernel &kernel, Grid grid, Stream stream, std::span<const char> packed) {
  const HipCalls &calls = owner.calls();
  const artifact::Dim3 &block = kernel.artifact().blockDims;
  const auto shared = static_cast<unsigned>(kernel.artifact().sharedBytes);
  char *const arguments = const_cast<char *>(packed.data()); // HIP only reads
  const uint64_t entry = history.record(kernel.launchName);
  const char *call = "hipModuleLaunchKernel";
  Result result = Success;
  if (kernel.artifact().cooperative) {
    std::vector<void *> parameters;
    for (const uint32_t offset : kernel.offsets)
      parameters.push_back(arguments + offset);
    call = "hipModuleLaunchCooperativeKernel";
    result = calls.hipModuleLaunchCooperativeKernel(kernel.function, grid.x, grid.y, grid.z, block[0], block[1],
                                                    block[2], shared, stream, parameters.data());
  } else {
    size_t bytes = packed.size();
    void *extra[] = {kLaunchBuffer, arguments, kLaunchBufferBytes, &bytes, kLaunchEnd};
    result = calls.hipModuleLaunchKernel(kernel.function, grid.x, grid.y, grid.z, block[0], block[1], block[2], shared,
                                         stream, nullptr, extra);
  }
  if (result == Success)
    return {};
  history.takeBack(entry, kernel.launchName);
  return launchError(kernel, grid, call, result);
}

Expected<void> HipDevice::launchWithScratch(const HipKernel &kernel, Grid grid, Stream stream,
                                            std::span<const char> packed) {
  const HipCalls &calls = owner.calls();
  const auto allocateOnStream = [&](uint64_t bytes, const std::string &what) -> Expected<uint64_t> {
    Address address = nullptr;
    const Result result = calls.hipMallocAsync(&address, bytes, stream);
    return result == Success ? Expected<uint64_t>(reinterpret_cast<uint64_t>(address))
                             : failure("launch-memory", what, "hipMallocAsync", result);
  };
  LaunchScratch scratch(
      {allocateOnStream, [&](uint64_t address) { calls.hipFreeAsync(reinterpret_cast<Address>(address), stream); }});
  auto block = scratch.fill(kernel.artifact(), grid, packed);
  if (!block)
    return block.error();
  return enqueue(kernel, grid, stream, *block);
}

Expected<void> HipDevice::launch(Kernel &given, Grid grid, void *onStream, std::span<const char> packed) {
  if (&given.device() != this)
    return otherDeviceError(given.artifact(), name());
  const auto &kernel = static_cast<const HipKernel &>(given);
  const auto stream = static_cast<Stream>(onStream);
  if (packed.size() != kernel.argumentBytes)
    return argumentBytesError(kernel.artifact(), kernel.argumentBytes, packed.size());
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return {};
  if (!fits(kernel, grid))
    return gridError(kernel, grid);
  const HipDeviceScope scope(owner.calls(), ordinal());
  if (scope.result != Success)
    return launchError(kernel, grid, scope.call, scope.result);
  if (kernel.artifact().globalScratchBytes || kernel.artifact().profileScratchBytes)
    return launchWithScratch(kernel, grid, stream, packed);
  return enqueue(kernel, grid, stream, packed);
}

} // namespace nereid::runtime
