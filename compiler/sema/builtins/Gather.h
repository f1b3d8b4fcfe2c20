// The histogram of a tile, in a layout that the caller chooses.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {

/// Of the arguments `input`, `num_bins` and `mask`. `layout`: of the result; null in Triton's language.
Value histogram(const CallSite &site, mlir::Attribute layout);

} // namespace nereid::sema
