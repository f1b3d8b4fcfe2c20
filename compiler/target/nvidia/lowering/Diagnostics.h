// Declares the diagnostics of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::nvidia::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/target/nvidia/lowering/Diagnostics.def"
} // namespace nereid::nvidia::diag
