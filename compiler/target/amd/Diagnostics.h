// Declares the diagnostics of the AMD target.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::amd::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/target/amd/Diagnostics.def"
} // namespace nereid::amd::diag
