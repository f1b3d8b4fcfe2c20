// Visits the direct children of a node, in source order: the base of walks over trees.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Ast.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::syntax {

using ExprVisitor = llvm::function_ref<void(const Expr *)>;
using StmtVisitor = llvm::function_ref<void(const Stmt *)>;

/// Parameters' defaults, comprehension targets and format specs included; annotations are not.
void forEachChild(const Expr *expression, ExprVisitor visit);
/// Expressions and statements of one statement. Targets of assignments are children too.
void forEachChild(const Stmt *statement, ExprVisitor visitExpr, StmtVisitor visitStmt);

} // namespace nereid::syntax
