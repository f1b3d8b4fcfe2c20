// Launches a kernel on a stream of an AMD GPU.
// SPDX-License-Identifier: MIT
//
// The packed arguments of the plain ABI are the kernel's argument segment as LLVM lays it out, so they are passed as
// one buffer. A cooperative launch has no such form; it takes a pointer to each.
#include "runtime/gpu/DriverKernel.h"
#include "runtime/gpu/LaunchErrors.h"
#include "runtime/gpu/LaunchScratch.h"
#include "runtime/hip/HipDevice.h"

namespace nereid::runtime {

using namespace hip;

//--- Checks ------------------------------------------------------------------------------------

// HIP counts the threads of each dimension in 32 bits.
static constexpr uint64_t kMaxThreads = uint64_t{1} << 32;

bool HipDevice::fits(const DriverKernel &kernel, Grid grid) const {
  const uint64_t extents[] = {grid.x, grid.y, grid.z};
  for (size_t axis = 0; axis < 3; ++axis)
    if (extents[axis] > maxGrid[axis] || extents[axis] * kernel.artifact().blockDims[axis] >= kMaxThreads)
      return false;
  return true;
}

static std::string productText(uint64_t x, uint64_t y, uint64_t z) {
  return std::to_string(x) + " x " + std::to_string(y) + " x " + std::to_string(z);
}

Error HipDevice::gridError(const DriverKernel &kernel, Grid grid) const {
  const auto limit = [&](size_t axis) {
    return std::min(maxGrid[axis], (kMaxThreads - 1) / std::max(kernel.artifact().blockDims[axis], 1u));
  };
  return {"launch-grid", "a grid of " + productText(grid.x, grid.y, grid.z) + " programs is too large for " +
                             quoted(kernel.artifact()) + "; " + name() + " takes at most " +
                             productText(limit(0), limit(1), limit(2))};
}

//--- Launching ---------------------------------------------------------------------------------

Expected<void> HipDevice::enqueue(const DriverKernel &kernel, Grid grid, Stream stream, std::span<const char> packed) {
  const HipCalls &calls = owner.calls();
  const artifact::Dim3 &block = kernel.artifact().blockDims;
  const auto shared = static_cast<unsigned>(kernel.artifact().sharedBytes);
  char *const arguments = const_cast<char *>(packed.data()); // HIP only reads
  const uint64_t entry = history.record(kernel.launchName);
  CallResult done;
  if (kernel.artifact().cooperative) {
    std::vector<void *> parameters;
    for (const uint32_t offset : kernel.offsets)
      parameters.push_back(arguments + offset);
    done = {"hipModuleLaunchCooperativeKernel",
            calls.hipModuleLaunchCooperativeKernel(kernel.function, grid.x, grid.y, grid.z, block[0], block[1],
                                                   block[2], shared, stream, parameters.data())};
  } else {
    size_t bytes = packed.size();
    void *extra[] = {kLaunchBuffer, arguments, kLaunchBufferBytes, &bytes, kLaunchEnd};
    done = {"hipModuleLaunchKernel", calls.hipModuleLaunchKernel(kernel.function, grid.x, grid.y, grid.z, block[0],
                                                                 block[1], block[2], shared, stream, nullptr, extra)};
  }
  if (done.result == Success)
    return {};
  history.takeBack(entry, kernel.launchName);
  return launchError(kernel, grid, done);
}

Expected<void> HipDevice::launchOn(const DriverKernel &kernel, Grid grid, Stream stream, std::span<const char> packed) {
  if (!fits(kernel, grid))
    return gridError(kernel, grid);
  const CurrentScope scope(*this, *wantedCurrent());
  if (scope.outcome.result != Success)
    return launchError(kernel, grid, scope.outcome);
  return withScratch(*this, kernel, grid, stream, packed,
                     [&](std::span<const char> block) { return enqueue(kernel, grid, stream, block); });
}

} // namespace nereid::runtime
