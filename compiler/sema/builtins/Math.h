// The mathematical functions of `triton.language` and `triton.language.math`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Builtin.h"

#include <vector>

namespace nereid::sema {

/// Adds exp, sqrt, fma ... under both modules.
void appendMath(std::vector<Builtin> &entries);

} // namespace nereid::sema
