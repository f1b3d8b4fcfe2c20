// The grid of a launch in CTAs, as NVIDIA's GPUs count them.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/Device.h"

#include <optional>

namespace nereid::runtime {

/// The CTAs of a grid of programs, each of which has a cluster of them; nothing where the hardware takes fewer.
std::optional<Grid> ctasOf(Grid programs, const artifact::Dim3 &cluster);

/// The number of programs; nothing for a grid beyond what a persistent kernel counts, 2^31 - 1.
std::optional<uint32_t> programCount(Grid programs);

/// Code: `launch-grid`.
Error gridError(const artifact::Artifact &artifact, Grid programs);

} // namespace nereid::runtime
