// The run-time parameters of a kernel as an artifact describes them: from a signature, or from a function of IR alone.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/sema/Sema.h"

#include <vector>

namespace nereid::driver {

std::vector<artifact::Parameter> allParametersOf(const sema::KernelRequest &kernel);

/// Whether a launch passes tensor maps.
bool takesHostMaps(tt::FuncOp kernel);

/// Of a function whose descriptors are not yet taken apart, or are maps.
std::vector<artifact::Parameter> parametersOf(tt::FuncOp kernel);

} // namespace nereid::driver
