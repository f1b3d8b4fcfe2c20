// Lists the children of each kind of node.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/AstChildren.h"

#include "compiler/syntax/AstFields.h"

using namespace nereid;
using namespace nereid::syntax;

namespace {
// Passes fields that are expressions and statements on, others have no children.
struct ChildVisitor {
  ExprVisitor visitExpr;
  StmtVisitor visitStmt;

  void operator()(llvm::StringRef label, const Expr *expression) const {
    if (expression && label != "annotation" && label != "returns")
      visitExpr(expression);
  }
  void operator()(llvm::StringRef, const Name *) const {} // the target of `:=`
  void operator()(llvm::StringRef, const Stmt *statement) const { visitStmt(statement); }
  template <typename T> void operator()(llvm::StringRef label, llvm::ArrayRef<T> items) const {
    for (const T &item : items)
      (*this)(label, item);
  }
  void operator()(llvm::StringRef label, const Parameter &parameter) const { (*this)(label, parameter.defaultValue); }
  void operator()(llvm::StringRef label, const Keyword &keyword) const { (*this)(label, keyword.value); }
  void operator()(llvm::StringRef label, const Comprehension &generator) const {
    (*this)(label, generator.target);
    (*this)(label, generator.iterable);
    (*this)(label, generator.conditions);
  }
  void operator()(llvm::StringRef label, const WithItem &item) const {
    (*this)(label, item.context);
    (*this)(label, item.target);
  }
  void operator()(llvm::StringRef label, const ExceptHandler &handler) const {
    (*this)(label, handler.type);
    (*this)(label, handler.body);
  }
  void operator()(llvm::StringRef label, const DictEntries &entries) const {
    (*this)(label, entries.keys);
    (*this)(label, entries.values);
  }
  template <typename T>
    requires(!std::is_convertible_v<T, const Expr *>)
  void operator()(llvm::StringRef, const T &) const {}
};
} // namespace

void syntax::forEachChild(const Expr *expression, ExprVisitor visit) {
  forEachField(*expression, ChildVisitor{visit, [](const Stmt *) {}});
}

void syntax::forEachChild(const Stmt *statement, ExprVisitor visitExpr, StmtVisitor visitStmt) {
  forEachField(*statement, ChildVisitor{visitExpr, visitStmt});
}
