// The scalars of a kernel for one program of a launch.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/analysis/ScalarValues.h"
#include "compiler/explain/Estimate.h"

namespace nereid::lowering {

/// The grid of a launch; no extent is 0.
std::array<int64_t, 3> gridOf(const explain::LaunchShape &launch);

/// Programs at these parts of the grid stand for all.
inline constexpr double kSampledParts[] = {0.1, 0.3, 0.5, 0.7, 0.9};

/// What is known of the program at `part` of a grid of `ctas`, which may share the programs of `launch` among them.
analysis::ScalarValues valuesAt(double part, tt::FuncOp function, std::array<int64_t, 3> ctas,
                                const std::vector<artifact::Parameter> &parameters, const explain::LaunchShape &launch);

} // namespace nereid::lowering
