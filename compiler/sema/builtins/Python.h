// Python's own functions that kernels may call.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Builtin.h"

#include <vector>

namespace nereid::sema {

/// Adds len, int, isinstance, min ... under the module "builtins".
void appendPython(std::vector<Builtin> &entries);

} // namespace nereid::sema
