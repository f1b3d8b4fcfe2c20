// The kinds of diagnostics of sema.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::sema::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/sema/Diagnostics.def"
} // namespace nereid::sema::diag
