// Formats the errors that loads and launches on every GPU share.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/LaunchErrors.h"

namespace nereid::runtime {

std::string quoted(const artifact::Artifact &artifact) { return "kernel `" + artifact.name + "`"; }

Error outOf(const artifact::Artifact &artifact, const char *resource, uint64_t required, uint64_t limit,
            const std::string &device) {
  return {"out-of-resources",
          "out of resource: " + std::string(resource) + ", Required: " + std::to_string(required) +
              ", Hardware limit: " + std::to_string(limit) + " (" + quoted(artifact) + " on " + device +
              "); smaller blocks or fewer stages need less",
          resource, required, limit};
}

Error otherDeviceError(const artifact::Artifact &artifact, const std::string &device) {
  return {"launch-device", quoted(artifact) + " was loaded by another device; load it on " + device};
}

Error argumentBytesError(const artifact::Artifact &artifact, uint64_t expected, uint64_t actual) {
  return {"launch-arguments", quoted(artifact) + " takes " + std::to_string(expected) + " bytes of arguments; " +
                                  std::to_string(actual) + " were given"};
}

Expected<void> checkResources(const artifact::Artifact &artifact, const DeviceProperties &limits,
                              const std::string &device) {
  if (artifact.sharedBytes > limits.maxSharedMem)
    return outOf(artifact, "shared memory", artifact.sharedBytes, limits.maxSharedMem, device);
  const uint64_t threads = uint64_t{artifact.blockDims[0]} * artifact.blockDims[1] * artifact.blockDims[2];
  if (threads > limits.maxThreadsPerBlock)
    return outOf(artifact, "threads", threads, limits.maxThreadsPerBlock, device);
  return {};
}

} // namespace nereid::runtime
