// Declares the diagnostics of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::cpu::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/target/cpu/codegen/Diagnostics.def"
} // namespace nereid::cpu::diag
