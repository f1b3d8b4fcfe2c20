// The run-time parameters of a kernel in an artifact, derived from a signature or from an IR function alone.
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

/// The parameters of a function whose descriptors are not yet decomposed, or are tensor maps.
std::vector<artifact::Parameter> parametersOf(tt::FuncOp kernel);

} // namespace nereid::driver
