// Which names a list of statements assigns: what a loop may have to carry.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Ast.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::sema {

using NameSet = llvm::SetVector<llvm::StringRef>;

/// Adds every name that `statements` may assign, walrus expressions included, in source order.
void addAssignedNames(syntax::Block statements, NameSet &names);
void addAssignedNames(const syntax::Expr *expression, NameSet &names);

} // namespace nereid::sema
