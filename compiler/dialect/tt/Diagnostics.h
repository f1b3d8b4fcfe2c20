// The kinds of diagnostics about tile IR that passes and lowerings share.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::tt::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/dialect/tt/Diagnostics.def"
} // namespace nereid::tt::diag
