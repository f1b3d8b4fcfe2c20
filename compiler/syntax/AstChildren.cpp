// Lists the children of each kind of node.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/AstChildren.h"

using namespace nereid;
using namespace nereid::syntax;
using llvm::cast;

static void visitAll(ExprList list, ExprVisitor visit) {
  for (const Expr *expression : list)
    if (expression)
      visit(expression);
}

static void visitOne(const Expr *expression, ExprVisitor visit) {
  if (expression)
    visit(expression);
}

static void visitComprehension(const Expr *key, const Expr *element, llvm::ArrayRef<Comprehension> generators,
                               ExprVisitor visit) {
  for (const Comprehension &generator : generators) {
    visit(generator.target);
    visit(generator.iterable);
    visitAll(generator.conditions, visit);
  }
  visitOne(key, visit);
  visit(element);
}

static void visitDefaults(llvm::ArrayRef<Parameter> parameters, ExprVisitor visit) {
  for (const Parameter &parameter : parameters)
    visitOne(parameter.defaultValue, visit);
}

static void visitCall(const Call *call, ExprVisitor visit) {
  visit(call->callee);
  visitAll(call->args, visit);
  for (const Keyword &keyword : call->keywords)
    visit(keyword.value);
}

void syntax::forEachChild(const Expr *expression, ExprVisitor visit) {
  switch (expression->kind) {
  case NodeKind::BoolOp:
    return visitAll(cast<BoolOp>(expression)->values, visit);
  case NodeKind::NamedExpr:
    visitOne(cast<NamedExpr>(expression)->value, visit);
    return;
  case NodeKind::BinOp:
    visit(cast<BinOp>(expression)->left);
    return visit(cast<BinOp>(expression)->right);
  case NodeKind::UnaryOp:
    return visit(cast<UnaryOp>(expression)->operand);
  case NodeKind::Lambda:
    visitDefaults(cast<Lambda>(expression)->parameters, visit);
    return visit(cast<Lambda>(expression)->body);
  case NodeKind::IfExp:
    visit(cast<IfExp>(expression)->test);
    visit(cast<IfExp>(expression)->body);
    return visit(cast<IfExp>(expression)->orelse);
  case NodeKind::Dict:
    visitAll(cast<Dict>(expression)->keys, visit);
    return visitAll(cast<Dict>(expression)->values, visit);
  case NodeKind::Set:
    return visitAll(cast<Set>(expression)->elements, visit);
  case NodeKind::ListComp:
    return visitComprehension(nullptr, cast<ListComp>(expression)->element, cast<ListComp>(expression)->generators,
                              visit);
  case NodeKind::SetComp:
    return visitComprehension(nullptr, cast<SetComp>(expression)->element, cast<SetComp>(expression)->generators,
                              visit);
  case NodeKind::DictComp:
    return visitComprehension(cast<DictComp>(expression)->key, cast<DictComp>(expression)->value,
                              cast<DictComp>(expression)->generators, visit);
  case NodeKind::GeneratorExp:
    return visitComprehension(nullptr, cast<GeneratorExp>(expression)->element,
                              cast<GeneratorExp>(expression)->generators, visit);
  case NodeKind::Await:
    return visit(cast<Await>(expression)->value);
  case NodeKind::Yield:
    return visitOne(cast<Yield>(expression)->value, visit);
  case NodeKind::YieldFrom:
    return visit(cast<YieldFrom>(expression)->value);
  case NodeKind::Compare:
    visit(cast<Compare>(expression)->left);
    return visitAll(cast<Compare>(expression)->comparators, visit);
  case NodeKind::Call:
    return visitCall(cast<Call>(expression), visit);
  case NodeKind::FormattedValue:
    visit(cast<FormattedValue>(expression)->value);
    return visitOne(cast<FormattedValue>(expression)->formatSpec, visit);
  case NodeKind::JoinedStr:
    return visitAll(cast<JoinedStr>(expression)->values, visit);
  case NodeKind::Attribute:
    return visit(cast<Attribute>(expression)->value);
  case NodeKind::Subscript:
    visit(cast<Subscript>(expression)->value);
    return visit(cast<Subscript>(expression)->index);
  case NodeKind::Starred:
    return visit(cast<Starred>(expression)->value);
  case NodeKind::List:
    return visitAll(cast<List>(expression)->elements, visit);
  case NodeKind::Tuple:
    return visitAll(cast<Tuple>(expression)->elements, visit);
  case NodeKind::Slice:
    visitOne(cast<Slice>(expression)->lower, visit);
    visitOne(cast<Slice>(expression)->upper, visit);
    return visitOne(cast<Slice>(expression)->step, visit);
  default:
    return; // names and constants
  }
}

static void visitBlock(Block block, StmtVisitor visit) {
  for (const Stmt *statement : block)
    visit(statement);
}

static void visitTry(const Try *statement, ExprVisitor visitExpr, StmtVisitor visitStmt) {
  visitBlock(statement->body, visitStmt);
  for (const ExceptHandler &handler : statement->handlers) {
    visitOne(handler.type, visitExpr);
    visitBlock(handler.body, visitStmt);
  }
  visitBlock(statement->orelse, visitStmt);
  visitBlock(statement->finalbody, visitStmt);
}

static void visitLoop(const Stmt *statement, ExprVisitor visitExpr, StmtVisitor visitStmt) {
  if (auto *loop = llvm::dyn_cast<For>(statement)) {
    visitExpr(loop->iterable);
    visitExpr(loop->target);
    visitBlock(loop->body, visitStmt);
    return visitBlock(loop->orelse, visitStmt);
  }
  auto *loop = cast<While>(statement);
  visitExpr(loop->test);
  visitBlock(loop->body, visitStmt);
  visitBlock(loop->orelse, visitStmt);
}

void syntax::forEachChild(const Stmt *statement, ExprVisitor visitExpr, StmtVisitor visitStmt) {
  switch (statement->kind) {
  case NodeKind::FunctionDef:
    visitAll(cast<FunctionDef>(statement)->decorators, visitExpr);
    visitDefaults(cast<FunctionDef>(statement)->parameters, visitExpr);
    return visitBlock(cast<FunctionDef>(statement)->body, visitStmt);
  case NodeKind::ClassDef:
    return visitBlock(cast<ClassDef>(statement)->body, visitStmt);
  case NodeKind::Return:
    return visitOne(cast<Return>(statement)->value, visitExpr);
  case NodeKind::Delete:
    return visitAll(cast<Delete>(statement)->targets, visitExpr);
  case NodeKind::Assign:
    visitExpr(cast<Assign>(statement)->value);
    return visitAll(cast<Assign>(statement)->targets, visitExpr);
  case NodeKind::AugAssign:
    visitExpr(cast<AugAssign>(statement)->value);
    return visitExpr(cast<AugAssign>(statement)->target);
  case NodeKind::AnnAssign:
    visitOne(cast<AnnAssign>(statement)->value, visitExpr);
    return visitExpr(cast<AnnAssign>(statement)->target);
  case NodeKind::For:
  case NodeKind::While:
    return visitLoop(statement, visitExpr, visitStmt);
  case NodeKind::If:
    visitExpr(cast<If>(statement)->test);
    visitBlock(cast<If>(statement)->body, visitStmt);
    return visitBlock(cast<If>(statement)->orelse, visitStmt);
  case NodeKind::With:
    for (const WithItem &item : cast<With>(statement)->items) {
      visitExpr(item.context);
      visitOne(item.target, visitExpr);
    }
    return visitBlock(cast<With>(statement)->body, visitStmt);
  case NodeKind::Try:
    return visitTry(cast<Try>(statement), visitExpr, visitStmt);
  case NodeKind::Raise:
    return visitOne(cast<Raise>(statement)->exception, visitExpr);
  case NodeKind::Assert:
    visitExpr(cast<Assert>(statement)->test);
    return visitOne(cast<Assert>(statement)->message, visitExpr);
  case NodeKind::ExprStmt:
    return visitExpr(cast<ExprStmt>(statement)->value);
  default:
    return; // pass, break, import and similar statements
  }
}
