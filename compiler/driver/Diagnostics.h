// The kinds of diagnostics of the driver.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::driver::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/driver/Diagnostics.def"
} // namespace nereid::driver::diag
