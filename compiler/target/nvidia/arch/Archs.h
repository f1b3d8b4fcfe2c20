// NVIDIA GPU generations as the compiler finds them.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/NvidiaGpus.h"

#include <optional>
#include <string>

namespace nereid::nvidia {

/// The largest cluster, in CTAs, that some GPU can schedule.
inline constexpr unsigned kMaxClusterCtas = 16;

using Arch = artifact::NvidiaArch;

/// The architecture for "90", "90a", "sm_90a" (all features of 9.0) or "sm_90" (those that later GPUs have, too). A
/// capability between or above the rows gets the portable form of the row below. Other names give nothing and set
/// `reason`.
std::optional<Arch> findArch(const std::string &name, std::string &reason);

/// The spelling that equal targets share: "90" and "sm_90" for the names above.
std::string canonicalName(const std::string &name);

/// ptxas of CUDA 12.3 and 12.4 drops the lowest four bits of `tensormap.replace` strides. These versions do not know
/// this PTX version, and so count as too old for it.
inline constexpr unsigned kTensorMapPtx = 85;

} // namespace nereid::nvidia
