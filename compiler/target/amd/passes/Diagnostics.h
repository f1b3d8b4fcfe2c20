// Declares the diagnostics of this folder's passes.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::amd::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/target/amd/passes/Diagnostics.def"
} // namespace nereid::amd::diag
