// Names that statements assign and read: a loop may have to carry them, a nested function captures them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Ast.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::sema {

using NameSet = llvm::SetVector<llvm::StringRef>;

/// Adds every name that `statements` may assign, walrus expressions and imports included, in source order; `*` stands
/// for all names of a module.
void addAssignedNames(syntax::Block statements, NameSet &names);
void addAssignedNames(const syntax::Expr *expression, NameSet &names);

/// Whether `statements` may give `name` a meaning, judged by syntax alone.
bool mayBind(syntax::Block statements, llvm::StringRef name);

/// The last statement that ends before `offset` and assigns `name` directly, not in a nested statement; null if none.
const syntax::Stmt *lastAssignment(syntax::Block statements, llvm::StringRef name, uint32_t offset);

/// Names that a function reads and does not bind, including those read by functions inside it.
NameSet freeNames(const syntax::FunctionDef *function);

/// Whether `statements` contain a `return`, except in functions defined there.
bool containsReturn(syntax::Block statements);
/// Whether `statements` contain a `return`, or a `break` or `continue` of the enclosing loop.
bool mayLeave(syntax::Block statements);
/// Whether `statements` contain a `return`, or a `break` of the enclosing loop.
bool mayEndLoop(syntax::Block statements);
/// Whether every path through `statements` ends in `return`, `break` or `continue`, judged by syntax alone.
bool alwaysLeaves(syntax::Block statements);

} // namespace nereid::sema
