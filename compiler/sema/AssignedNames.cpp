// Collects assigned names by a walk over statements, targets and walrus expressions.
// SPDX-License-Identifier: MIT
#include "compiler/sema/AssignedNames.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::cast;
using llvm::dyn_cast;

static void addTarget(const syntax::Expr *target, NameSet &names) {
  if (auto *name = dyn_cast<syntax::Name>(target))
    names.insert(name->id);
  else if (auto *tuple = dyn_cast<syntax::Tuple>(target))
    for (const syntax::Expr *element : tuple->elements)
      addTarget(element, names);
  else if (auto *list = dyn_cast<syntax::List>(target))
    for (const syntax::Expr *element : list->elements)
      addTarget(element, names);
  else if (auto *starred = dyn_cast<syntax::Starred>(target))
    addTarget(starred->value, names);
}

static void addAll(syntax::ExprList expressions, NameSet &names) {
  for (const syntax::Expr *expression : expressions)
    addAssignedNames(expression, names);
}

void nereid::sema::addAssignedNames(const syntax::Expr *expression, NameSet &names) {
  using syntax::NodeKind;
  if (!expression)
    return;
  switch (expression->kind) {
  case NodeKind::NamedExpr: {
    auto *named = cast<syntax::NamedExpr>(expression);
    addAssignedNames(named->value, names);
    names.insert(named->target->id);
    return;
  }
  case NodeKind::BoolOp:
    return addAll(cast<syntax::BoolOp>(expression)->values, names);
  case NodeKind::BinOp:
    addAssignedNames(cast<syntax::BinOp>(expression)->left, names);
    return addAssignedNames(cast<syntax::BinOp>(expression)->right, names);
  case NodeKind::UnaryOp:
    return addAssignedNames(cast<syntax::UnaryOp>(expression)->operand, names);
  case NodeKind::IfExp:
    addAssignedNames(cast<syntax::IfExp>(expression)->test, names);
    addAssignedNames(cast<syntax::IfExp>(expression)->body, names);
    return addAssignedNames(cast<syntax::IfExp>(expression)->orelse, names);
  case NodeKind::Compare:
    addAssignedNames(cast<syntax::Compare>(expression)->left, names);
    return addAll(cast<syntax::Compare>(expression)->comparators, names);
  case NodeKind::Call:
    addAssignedNames(cast<syntax::Call>(expression)->callee, names);
    addAll(cast<syntax::Call>(expression)->args, names);
    for (const syntax::Keyword &keyword : cast<syntax::Call>(expression)->keywords)
      addAssignedNames(keyword.value, names);
    return;
  case NodeKind::Attribute:
    return addAssignedNames(cast<syntax::Attribute>(expression)->value, names);
  case NodeKind::Subscript:
    addAssignedNames(cast<syntax::Subscript>(expression)->value, names);
    return addAssignedNames(cast<syntax::Subscript>(expression)->index, names);
  case NodeKind::Starred:
    return addAssignedNames(cast<syntax::Starred>(expression)->value, names);
  case NodeKind::Tuple:
    return addAll(cast<syntax::Tuple>(expression)->elements, names);
  case NodeKind::List:
    return addAll(cast<syntax::List>(expression)->elements, names);
  default:
    return; // names, constants, and what kernels cannot contain
  }
}

void nereid::sema::addAssignedNames(syntax::Block statements, NameSet &names) {
  using syntax::NodeKind;
  for (const syntax::Stmt *statement : statements) {
    switch (statement->kind) {
    case NodeKind::Assign:
      addAssignedNames(cast<syntax::Assign>(statement)->value, names);
      for (const syntax::Expr *target : cast<syntax::Assign>(statement)->targets)
        addTarget(target, names);
      break;
    case NodeKind::AugAssign:
      addAssignedNames(cast<syntax::AugAssign>(statement)->value, names);
      addTarget(cast<syntax::AugAssign>(statement)->target, names);
      break;
    case NodeKind::AnnAssign:
      if (!cast<syntax::AnnAssign>(statement)->value)
        break;
      addAssignedNames(cast<syntax::AnnAssign>(statement)->value, names);
      addTarget(cast<syntax::AnnAssign>(statement)->target, names);
      break;
    case NodeKind::ExprStmt:
      addAssignedNames(cast<syntax::ExprStmt>(statement)->value, names);
      break;
    case NodeKind::If:
      addAssignedNames(cast<syntax::If>(statement)->test, names);
      addAssignedNames(cast<syntax::If>(statement)->body, names);
      addAssignedNames(cast<syntax::If>(statement)->orelse, names);
      break;
    case NodeKind::For:
      addTarget(cast<syntax::For>(statement)->target, names);
      addAssignedNames(cast<syntax::For>(statement)->iterable, names);
      addAssignedNames(cast<syntax::For>(statement)->body, names);
      break;
    case NodeKind::While:
      addAssignedNames(cast<syntax::While>(statement)->test, names);
      addAssignedNames(cast<syntax::While>(statement)->body, names);
      break;
    default:
      break;
    }
  }
}
