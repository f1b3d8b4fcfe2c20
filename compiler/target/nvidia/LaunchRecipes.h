// Describes the tensor maps that the launcher makes, and the conditions under which it may use the code.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/Artifact.h"

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::nvidia {

/// In the order of the kernel's arguments with a `ttng.recipe`.
std::vector<artifact::TensorMapRecipe> tensorMapRecipes(tt::FuncOp kernel);
std::vector<artifact::LaunchExpression> launchConditions(tt::FuncOp kernel);

} // namespace nereid::nvidia
