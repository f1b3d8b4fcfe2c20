// The kinds of messages that the passes over layouts, loops and shared memory give.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::ttg::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/passes/ttg/Diagnostics.def"
} // namespace nereid::ttg::diag
