// The syntax tree of Python without types or built-in names.
// SPDX-License-Identifier: MIT
//
// AstNode.h has the base and the arena, AstExpr.h the expressions, AstStmt.h the statements.
#pragma once

#include "compiler/syntax/AstExpr.h"
#include "compiler/syntax/AstNode.h"
#include "compiler/syntax/AstStmt.h"

#include "llvm/Support/Casting.h"

namespace llvm {
class raw_ostream;
}

namespace nereid::syntax {

// The tree as an indented S-expression with line:column ranges, for golden tests.
void print(const Module &module, llvm::raw_ostream &os);
void print(const Node &node, const support::SourceFile &file, llvm::raw_ostream &os);

} // namespace nereid::syntax
