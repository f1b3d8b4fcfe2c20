// The kinds of diagnostics of the lowering to LLVM IR.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::lowering::diag {
#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/lowering/Diagnostics.def"
} // namespace nereid::lowering::diag
