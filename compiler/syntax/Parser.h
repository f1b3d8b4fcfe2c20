// Turns source text into a syntax tree.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"
#include "compiler/syntax/Ast.h"

namespace nereid::syntax {

// The whole text as a module. Null where an error was reported; errors do not stop at the first.
const Module *parseModule(const support::SourceFile &file, AstContext &context, support::DiagnosticEngine &diagnostics);

// A text that is one function: decorators or `def` first, all of it possibly indented. Null where an error was
// reported.
const FunctionDef *parseFunction(const support::SourceFile &file, AstContext &context,
                                 support::DiagnosticEngine &diagnostics);

} // namespace nereid::syntax
