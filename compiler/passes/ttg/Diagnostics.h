// Declares the diagnostics of the passes about layouts, loops and shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::ttg::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/passes/ttg/Diagnostics.def"
} // namespace nereid::ttg::diag
