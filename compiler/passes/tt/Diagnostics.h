// The kinds of diagnostics of the passes on tile IR.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::tt::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/passes/tt/Diagnostics.def"
} // namespace nereid::tt::diag
