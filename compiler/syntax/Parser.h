// Parses source text to a syntax tree.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Diagnostic.h"
#include "compiler/syntax/Ast.h"

namespace nereid::syntax {

// Parses the whole text as a module. Null where an error was reported; parsing continues after errors.
const Module *parseModule(const support::SourceFile &file, AstContext &context, support::DiagnosticEngine &diagnostics);

// Parses the text of one function: decorators or `def` first, possibly indented as a whole. Null where an error was
// reported.
const FunctionDef *parseFunction(const support::SourceFile &file, AstContext &context,
                                 support::DiagnosticEngine &diagnostics);

} // namespace nereid::syntax
