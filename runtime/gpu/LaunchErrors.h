// Errors of loads and launches that read the same for every GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

namespace nereid::runtime {

/// "kernel `add`"
std::string quoted(const artifact::Artifact &artifact);

/// A kernel that needs more of a resource than the device has; tuning skips such a configuration.
Error outOf(const artifact::Artifact &artifact, const char *resource, uint64_t required, uint64_t limit,
            const std::string &device);

Error otherDeviceError(const artifact::Artifact &artifact, const std::string &device);
Error argumentBytesError(const artifact::Artifact &artifact, uint64_t expected, uint64_t actual);

/// Checks shared memory and threads of a CTA against the device's limits.
Expected<void> checkResources(const artifact::Artifact &artifact, const DeviceProperties &limits,
                              const std::string &device);

} // namespace nereid::runtime
