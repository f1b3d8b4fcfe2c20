// The kind of an error of the compiler itself.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::support::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/support/Diagnostics.def"
} // namespace nereid::support::diag
