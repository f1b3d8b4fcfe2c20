// Which names statements assign and read: what a loop may have to carry, what a nested function captures.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Ast.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::sema {

using NameSet = llvm::SetVector<llvm::StringRef>;

/// Adds every name that `statements` may assign, walrus expressions included, in source order.
void addAssignedNames(syntax::Block statements, NameSet &names);
void addAssignedNames(const syntax::Expr *expression, NameSet &names);

/// The last statement that ends before `offset` and assigns `name` itself, not in a statement inside it; null if none.
const syntax::Stmt *lastAssignment(syntax::Block statements, llvm::StringRef name, uint32_t offset);

/// Names that a function reads and does not bind itself, those of functions inside it too.
NameSet freeNames(const syntax::FunctionDef *function);

/// Whether a `return` stands in `statements`; functions defined there have their own.
bool containsReturn(syntax::Block statements);
/// Whether a `return`, or a `break` or `continue` of the loop around, stands in `statements`.
bool mayLeave(syntax::Block statements);
/// Whether a `return`, or a `break` of the loop around, stands in `statements`.
bool mayEndLoop(syntax::Block statements);
/// Whether every path through `statements` ends in `return`, `break` or `continue`, as far as the text tells.
bool alwaysLeaves(syntax::Block statements);

} // namespace nereid::sema
