// Estimates the time of a launch on an NVIDIA GPU.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/explain/Estimate.h"
#include "compiler/target/nvidia/CudaTarget.h"

namespace nereid::nvidia {

/// Of a kernel after the phase "plan".
explain::Estimate estimateLaunch(const CudaKernel &kernel, const std::vector<artifact::Parameter> &parameters,
                                 const explain::LaunchShape &launch);

} // namespace nereid::nvidia
