// Estimates the time of a launch on a CPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/explain/Estimate.h"
#include "compiler/target/cpu/CpuTarget.h"

namespace nereid::cpu {

/// Of a kernel after the phase "plan".
explain::Estimate estimateLaunch(CpuKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                 const explain::LaunchShape &launch);

} // namespace nereid::cpu
