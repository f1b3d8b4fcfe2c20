// Estimates the time of a launch on an AMD GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/explain/Estimate.h"
#include "compiler/target/amd/HipTarget.h"

namespace nereid::amd {

/// Of a kernel after the phase "plan".
explain::Estimate estimateLaunch(const HipKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                 const explain::LaunchShape &launch);

} // namespace nereid::amd
