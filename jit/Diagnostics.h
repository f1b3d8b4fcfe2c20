// The kinds of diagnostics of jit.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::jit::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "jit/Diagnostics.def"
} // namespace nereid::jit::diag
