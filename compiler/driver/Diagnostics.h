// The kinds of messages that the driver gives.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::driver::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/driver/Diagnostics.def"
} // namespace nereid::driver::diag
