// Expression nodes, named and structured as in CPython's `ast`, with the ranges of operators and names added.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/AstNode.h"

#include "llvm/ADT/APInt.h"

namespace nereid::syntax {

struct Name;
struct JoinedStr;

enum class BoolOperator : uint8_t { And, Or };
enum class UnaryOperator : uint8_t { Invert, Not, Plus, Minus };
enum class BinaryOperator : uint8_t {
  Add,
  Sub,
  Mult,
  MatMult,
  Div,
  Mod,
  Pow,
  LeftShift,
  RightShift,
  BitOr,
  BitXor,
  BitAnd,
  FloorDiv
};
enum class CompareOperator : uint8_t { Eq, NotEq, Lt, LtE, Gt, GtE, Is, IsNot, In, NotIn };
// The kind of the node in words for messages: "a call", "`True`".
llvm::StringRef describe(const Expr &expr);

// As the user wrote it: "+", "not in".
llvm::StringRef spelling(BoolOperator op);
llvm::StringRef spelling(UnaryOperator op);
llvm::StringRef spelling(BinaryOperator op);
llvm::StringRef spelling(CompareOperator op);

enum class ParameterKind : uint8_t { PositionalOnly, PositionalOrKeyword, VarPositional, KeywordOnly, VarKeyword };

// One parameter of a function or lambda, in source order. `range` covers name and annotation (not `*`, not the
// default).
struct Parameter {
  ParameterKind kind = ParameterKind::PositionalOrKeyword;
  llvm::StringRef name;
  SourceRange nameRange;
  SourceRange range;
  const Expr *annotation = nullptr;   // or null
  const Expr *defaultValue = nullptr; // or null
};

// `name=value` or `**value` in a call or class header.
struct Keyword {
  llvm::StringRef name; // empty for `**value`
  SourceRange nameRange;
  SourceRange range;
  const Expr *value = nullptr;
};

// `for target in iterable if c1 if c2` of a comprehension.
struct Comprehension {
  SourceRange range;
  const Expr *target = nullptr;
  const Expr *iterable = nullptr;
  ExprList conditions;
  bool isAsync = false;
};

// `a and b and c`: two or more values; `opRanges` has one less.
struct BoolOp : ExprOf<NodeKind::BoolOp> {
  using NodeOf::NodeOf;
  BoolOperator op = BoolOperator::And;
  ExprList values;
  llvm::ArrayRef<SourceRange> opRanges;
};

// `target := value`
struct NamedExpr : ExprOf<NodeKind::NamedExpr> {
  using NodeOf::NodeOf;
  const Name *target = nullptr;
  const Expr *value = nullptr;
};

struct BinOp : ExprOf<NodeKind::BinOp> {
  using NodeOf::NodeOf;
  BinaryOperator op = BinaryOperator::Add;
  SourceRange opRange;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

struct UnaryOp : ExprOf<NodeKind::UnaryOp> {
  using NodeOf::NodeOf;
  UnaryOperator op = UnaryOperator::Plus;
  SourceRange opRange;
  const Expr *operand = nullptr;
};

struct Lambda : ExprOf<NodeKind::Lambda> {
  using NodeOf::NodeOf;
  llvm::ArrayRef<Parameter> parameters;
  const Expr *body = nullptr;
};

// `body if test else orelse`
struct IfExp : ExprOf<NodeKind::IfExp> {
  using NodeOf::NodeOf;
  const Expr *test = nullptr;
  const Expr *body = nullptr;
  const Expr *orelse = nullptr;
};

// A null key stands for `**value`.
struct DictEntries {
  ExprList keys;
  ExprList values;
};

struct Dict : ExprOf<NodeKind::Dict>, DictEntries {
  using NodeOf::NodeOf;
  const DictEntries &entries() const { return *this; }
};

struct Set : ExprOf<NodeKind::Set> {
  using NodeOf::NodeOf;
  ExprList elements;
};

struct ListComp : ExprOf<NodeKind::ListComp> {
  using NodeOf::NodeOf;
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct SetComp : ExprOf<NodeKind::SetComp> {
  using NodeOf::NodeOf;
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct DictComp : ExprOf<NodeKind::DictComp> {
  using NodeOf::NodeOf;
  const Expr *key = nullptr;
  const Expr *value = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct GeneratorExp : ExprOf<NodeKind::GeneratorExp> {
  using NodeOf::NodeOf;
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct Await : ExprOf<NodeKind::Await> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
};

struct Yield : ExprOf<NodeKind::Yield> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr; // or null
};

struct YieldFrom : ExprOf<NodeKind::YieldFrom> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
};

// `left ops[0] comparators[0] ops[1] comparators[1] ...`; more than one op is a chained comparison.
struct Compare : ExprOf<NodeKind::Compare> {
  using NodeOf::NodeOf;
  const Expr *left = nullptr;
  llvm::ArrayRef<CompareOperator> ops;
  llvm::ArrayRef<SourceRange> opRanges;
  ExprList comparators;
};

// `args` may hold Starred nodes; both lists are in source order.
struct Call : ExprOf<NodeKind::Call> {
  using NodeOf::NodeOf;
  const Expr *callee = nullptr;
  ExprList args;
  llvm::ArrayRef<Keyword> keywords;
};

// `{value!r:spec}` of an f-string. `{value=}` also puts its own text before it, as a Constant.
struct FormattedValue : ExprOf<NodeKind::FormattedValue> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
  char conversion = 0;                   // 's', 'r', 'a', or 0 for none
  const JoinedStr *formatSpec = nullptr; // or null
};

// An f-string (and adjacent strings): Constant and FormattedValue nodes.
struct JoinedStr : ExprOf<NodeKind::JoinedStr> {
  using NodeOf::NodeOf;
  ExprList values;
};

enum class ConstantKind : uint8_t { None, True, False, Ellipsis, Int, Float, Imaginary, Str, Bytes };

struct Constant : ExprOf<NodeKind::Constant> {
  using NodeOf::NodeOf;
  ConstantKind constantKind = ConstantKind::None;
  uint8_t radix = 10; // of an Int
  // Int: the digits, without prefix and underscores. Str, Bytes: the value, with escapes resolved; a Str is UTF-8, in
  // which a lone surrogate (`"\ud800"`) takes three bytes.
  llvm::StringRef text;
  double number = 0; // Float; Imaginary without its j

  // The value of an Int: not negative, and the width leaves a zero sign bit.
  llvm::APInt integer() const;
};

struct Attribute : ExprOf<NodeKind::Attribute> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
  llvm::StringRef name;
  SourceRange nameRange;
};

// `index` is a Slice, a Tuple (`x[:, None]`) or any expression.
struct Subscript : ExprOf<NodeKind::Subscript> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
  const Expr *index = nullptr;
};

struct Starred : ExprOf<NodeKind::Starred> {
  using NodeOf::NodeOf;
  const Expr *value = nullptr;
};

struct Name : ExprOf<NodeKind::Name> {
  using NodeOf::NodeOf;
  llvm::StringRef id;
};

struct List : ExprOf<NodeKind::List> {
  using NodeOf::NodeOf;
  ExprList elements;
};

struct Tuple : ExprOf<NodeKind::Tuple> {
  using NodeOf::NodeOf;
  ExprList elements;
};

// Each part may be null. Only inside a Subscript.
struct Slice : ExprOf<NodeKind::Slice> {
  using NodeOf::NodeOf;
  const Expr *lower = nullptr;
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
};

} // namespace nereid::syntax
