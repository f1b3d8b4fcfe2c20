// Checks the grid of a launch against the hardware's limits.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/LaunchGrid.h"

#include "runtime/gpu/LaunchErrors.h"

namespace nereid::runtime {

std::optional<Grid> ctasOf(Grid programs, const artifact::Dim3 &cluster) {
  constexpr uint64_t kMaxX = 0x7fffffff, kMaxYZ = 65535;
  const uint64_t x = uint64_t{programs.x} * cluster[0], y = uint64_t{programs.y} * cluster[1],
                 z = uint64_t{programs.z} * cluster[2];
  if (x > kMaxX || y > kMaxYZ || z > kMaxYZ)
    return std::nullopt;
  return Grid{static_cast<uint32_t>(x), static_cast<uint32_t>(y), static_cast<uint32_t>(z)};
}

std::optional<uint32_t> programCount(Grid programs) {
  // The counters have 32 bits, and each CTA counts one step beyond the last program.
  constexpr uint64_t kMaxPrograms = 0x7fffffff;
  uint64_t count = uint64_t{programs.x} * programs.y;
  const bool isTooLarge = __builtin_mul_overflow(count, uint64_t{programs.z}, &count) || count > kMaxPrograms;
  return isTooLarge ? std::nullopt : std::optional(static_cast<uint32_t>(count));
}

Error gridError(const artifact::Artifact &artifact, Grid programs) {
  const auto &[x, y, z] = artifact.clusterDims;
  std::string text = "a grid of " + std::to_string(programs.x) + " x " + std::to_string(programs.y) + " x " +
                     std::to_string(programs.z) + " programs is too large for " + quoted(artifact) +
                     "; a GPU takes at most 2147483647 x 65535 x 65535";
  if (x * y * z != 1)
    text += " blocks, and each program has " + std::to_string(x * y * z);
  return {"launch-grid", text};
}

} // namespace nereid::runtime
