// Statement nodes and the module, named and structured as in CPython's `ast`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/AstExpr.h"

namespace nereid::syntax {

// The range starts at `def` (or `async`), not at the decorators.
struct FunctionDef : StmtOf<NodeKind::FunctionDef> {
  llvm::StringRef name;
  SourceRange nameRange;
  ExprList decorators; // without the `@`
  llvm::ArrayRef<Parameter> parameters;
  const Expr *returns = nullptr; // or null
  Block body;
  SourceRange typeParameters; // `[T]`, empty where there is none
  bool isAsync = false;
};

struct ClassDef : StmtOf<NodeKind::ClassDef> {
  llvm::StringRef name;
  SourceRange nameRange;
  ExprList decorators;
  ExprList bases;
  llvm::ArrayRef<Keyword> keywords;
  Block body;
  SourceRange typeParameters;
};

struct Return : StmtOf<NodeKind::Return> {
  const Expr *value = nullptr; // or null
};

struct Delete : StmtOf<NodeKind::Delete> {
  ExprList targets;
};

// `t1 = t2 = value`
struct Assign : StmtOf<NodeKind::Assign> {
  ExprList targets;
  const Expr *value = nullptr;
};

// `target op= value`; `opRange` covers `op=`.
struct AugAssign : StmtOf<NodeKind::AugAssign> {
  BinaryOperator op = BinaryOperator::Add;
  SourceRange opRange;
  const Expr *target = nullptr;
  const Expr *value = nullptr;
};

// `target: annotation = value`; the value may be null.
struct AnnAssign : StmtOf<NodeKind::AnnAssign> {
  const Expr *target = nullptr;
  const Expr *annotation = nullptr;
  const Expr *value = nullptr;
};

// `type X = value`
struct TypeAlias : StmtOf<NodeKind::TypeAlias> {
  Identifier name;
  const Expr *value = nullptr;
};

struct For : StmtOf<NodeKind::For> {
  const Expr *target = nullptr;
  const Expr *iterable = nullptr;
  Block body;
  Block orelse;
  bool isAsync = false;
};

struct While : StmtOf<NodeKind::While> {
  const Expr *test = nullptr;
  Block body;
  Block orelse;
};

// An `elif` is an If alone in `orelse`, whose range starts at `elif`.
struct If : StmtOf<NodeKind::If> {
  const Expr *test = nullptr;
  Block body;
  Block orelse;
};

struct WithItem {
  const Expr *context = nullptr;
  const Expr *target = nullptr; // or null
};

struct With : StmtOf<NodeKind::With> {
  llvm::ArrayRef<WithItem> items;
  Block body;
  bool isAsync = false;
};

// A `match` statement without its cases: kernels cannot contain it.
struct Match : StmtOf<NodeKind::Match> {
  const Expr *subject = nullptr;
};

struct Raise : StmtOf<NodeKind::Raise> {
  const Expr *exception = nullptr; // or null
  const Expr *cause = nullptr;     // or null
};

struct ExceptHandler {
  SourceRange range;
  const Expr *type = nullptr; // or null
  Identifier name;            // empty where there is none
  Block body;
};

struct Try : StmtOf<NodeKind::Try> {
  Block body;
  llvm::ArrayRef<ExceptHandler> handlers;
  Block orelse;
  Block finalbody;
  bool isStar = false; // `except*`
};

struct Assert : StmtOf<NodeKind::Assert> {
  const Expr *test = nullptr;
  const Expr *message = nullptr; // or null
};

// `name as asName`; the name may be dotted, or `*` in an ImportFrom.
struct Alias {
  SourceRange range;
  llvm::StringRef name;
  llvm::StringRef asName; // empty where there is none
};

struct Import : StmtOf<NodeKind::Import> {
  llvm::ArrayRef<Alias> names;
};

// `from ..module import a as b`: `level` counts the dots.
struct ImportFrom : StmtOf<NodeKind::ImportFrom> {
  llvm::StringRef module; // may be empty
  unsigned level = 0;
  llvm::ArrayRef<Alias> names;
};

struct Global : StmtOf<NodeKind::Global> {
  llvm::ArrayRef<Identifier> names;
};

struct Nonlocal : StmtOf<NodeKind::Nonlocal> {
  llvm::ArrayRef<Identifier> names;
};

struct ExprStmt : StmtOf<NodeKind::ExprStmt> {
  const Expr *value = nullptr;
};

struct Pass : StmtOf<NodeKind::Pass> {};

struct Break : StmtOf<NodeKind::Break> {};

struct Continue : StmtOf<NodeKind::Continue> {};

struct Module {
  const support::SourceFile *file = nullptr;
  Block body;
};

} // namespace nereid::syntax
