// Declares the diagnostics of the NVIDIA target.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::nvidia::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/target/nvidia/Diagnostics.def"
} // namespace nereid::nvidia::diag
