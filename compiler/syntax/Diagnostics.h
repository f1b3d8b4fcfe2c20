// The kinds of diagnostics of lexer and parser.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"

namespace nereid::syntax::diag {

#define DIAG NEREID_DECLARE_DIAGNOSTIC
#include "compiler/syntax/Diagnostics.def"

} // namespace nereid::syntax::diag
