// Allocates the scratch memory of a launch and stores its addresses in the launch's arguments.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/LaunchScratch.h"

#include "runtime/gpu/LaunchErrors.h"

#include <algorithm>
#include <cstring>

namespace nereid::runtime {

LaunchScratch::~LaunchScratch() {
  for (const uint64_t address : addresses)
    device.calls().releaseOnStream(address, stream);
}

/// `what` begins the text of an error.
Expected<uint64_t> LaunchScratch::allocate(uint64_t bytes, const std::string &what) const {
  const auto &call = device.calls().allocateOnStream;
  gpu::Address address = 0;
  const gpu::Result result = call(&address, bytes, stream);
  return result == gpu::Success ? Expected<uint64_t>(address)
                                : device.failure("launch-memory", what, {call.name, result});
}

/// Scratch bytes for all CTAs; false where the number exceeds all memory.
static bool scratchBytes(Grid ctas, uint64_t each, uint64_t &total) {
  return !__builtin_mul_overflow(each, uint64_t{ctas.x} * ctas.y, &total) &&
         !__builtin_mul_overflow(total, uint64_t{ctas.z}, &total) && total < uint64_t{1} << 48;
}

Expected<std::span<const char>> LaunchScratch::fill(const artifact::Artifact &artifact, Grid ctas,
                                                    std::span<const char> packed) {
  const struct {
    uint64_t bytes, align;
    const char *name;
  } wanted[] = {{artifact.globalScratchBytes, artifact.globalScratchAlign, "scratch"},
                {artifact.profileScratchBytes, artifact.profileScratchAlign, "profile"}};
  block.assign(packed.begin(), packed.end());
  for (size_t i = 0; i < 2; ++i) {
    char *pointer = block.data() + artifact::scratchOffset(artifact) + 8 * i;
    uint64_t address = 0;
    std::memcpy(&address, pointer, sizeof address);
    if (address || wanted[i].bytes == 0)
      continue; // the caller supplies the memory
    const std::string what = "there is no " + std::string(wanted[i].name) + " memory for " + quoted(artifact) + " (" +
                             std::to_string(wanted[i].bytes) + " bytes for each block)";
    const uint64_t align = std::max<uint64_t>(wanted[i].align, 1);
    uint64_t total = 0;
    if (!scratchBytes(ctas, wanted[i].bytes, total))
      return Error{"launch-memory", what};
    auto allocated = allocate(total + align - 1, what);
    if (!allocated)
      return allocated.error();
    addresses.push_back(*allocated);
    address = (*allocated + align - 1) / align * align;
    std::memcpy(pointer, &address, sizeof address);
  }
  return std::span<const char>(block);
}

} // namespace nereid::runtime
