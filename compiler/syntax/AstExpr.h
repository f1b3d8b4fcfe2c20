// Expression nodes, named and structured as in CPython's `ast`, with the ranges of operators and names added.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/AstNode.h"

#include "llvm/ADT/APInt.h"

namespace nereid::syntax {

struct Name;
struct JoinedStr;

enum class BoolOperator : uint8_t { And, Or };
enum class UnaryOperator : uint8_t {
#define UNARY(op, ...) op,
#include "compiler/syntax/Operators.def"
};
enum class BinaryOperator : uint8_t {
#define BINARY(op, ...) op,
#include "compiler/syntax/Operators.def"
};
enum class CompareOperator : uint8_t {
#define COMPARE(op, ...) op,
#define COMPARE_WORDS(op, ...) op,
#include "compiler/syntax/Operators.def"
};
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
  BoolOperator op = BoolOperator::And;
  ExprList values;
  llvm::ArrayRef<SourceRange> opRanges;
};

// `target := value`
struct NamedExpr : ExprOf<NodeKind::NamedExpr> {
  const Name *target = nullptr;
  const Expr *value = nullptr;
};

struct BinOp : ExprOf<NodeKind::BinOp> {
  BinaryOperator op = BinaryOperator::Add;
  SourceRange opRange;
  const Expr *left = nullptr;
  const Expr *right = nullptr;
};

struct UnaryOp : ExprOf<NodeKind::UnaryOp> {
  UnaryOperator op = UnaryOperator::Plus;
  SourceRange opRange;
  const Expr *operand = nullptr;
};

struct Lambda : ExprOf<NodeKind::Lambda> {
  llvm::ArrayRef<Parameter> parameters;
  const Expr *body = nullptr;
};

// `body if test else orelse`
struct IfExp : ExprOf<NodeKind::IfExp> {
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
  const DictEntries &entries() const { return *this; }
};

struct Set : ExprOf<NodeKind::Set> {
  ExprList elements;
};

struct ListComp : ExprOf<NodeKind::ListComp> {
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct SetComp : ExprOf<NodeKind::SetComp> {
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct DictComp : ExprOf<NodeKind::DictComp> {
  const Expr *key = nullptr;
  const Expr *value = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct GeneratorExp : ExprOf<NodeKind::GeneratorExp> {
  const Expr *element = nullptr;
  llvm::ArrayRef<Comprehension> generators;
};

struct Await : ExprOf<NodeKind::Await> {
  const Expr *value = nullptr;
};

struct Yield : ExprOf<NodeKind::Yield> {
  const Expr *value = nullptr; // or null
};

struct YieldFrom : ExprOf<NodeKind::YieldFrom> {
  const Expr *value = nullptr;
};

// `left ops[0] comparators[0] ops[1] comparators[1] ...`; more than one op is a chained comparison.
struct Compare : ExprOf<NodeKind::Compare> {
  const Expr *left = nullptr;
  llvm::ArrayRef<CompareOperator> ops;
  llvm::ArrayRef<SourceRange> opRanges;
  ExprList comparators;
};

// `args` may hold Starred nodes; both lists are in source order.
struct Call : ExprOf<NodeKind::Call> {
  const Expr *callee = nullptr;
  ExprList args;
  llvm::ArrayRef<Keyword> keywords;
};

// `{value!r:spec}` of an f-string. `{value=}` also puts its own text before it, as a Constant.
struct FormattedValue : ExprOf<NodeKind::FormattedValue> {
  const Expr *value = nullptr;
  char conversion = 0;                   // 's', 'r', 'a', or 0 for none
  const JoinedStr *formatSpec = nullptr; // or null
};

// An f-string (and adjacent strings): Constant and FormattedValue nodes.
struct JoinedStr : ExprOf<NodeKind::JoinedStr> {
  ExprList values;
};

enum class ConstantKind : uint8_t { None, True, False, Ellipsis, Int, Float, Imaginary, Str, Bytes };

struct Constant : ExprOf<NodeKind::Constant> {
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
  const Expr *value = nullptr;
  llvm::StringRef name;
  SourceRange nameRange;
};

// `index` is a Slice, a Tuple (`x[:, None]`) or any expression.
struct Subscript : ExprOf<NodeKind::Subscript> {
  const Expr *value = nullptr;
  const Expr *index = nullptr;
};

struct Starred : ExprOf<NodeKind::Starred> {
  const Expr *value = nullptr;
};

struct Name : ExprOf<NodeKind::Name> {
  llvm::StringRef id;
};

struct List : ExprOf<NodeKind::List> {
  ExprList elements;
};

struct Tuple : ExprOf<NodeKind::Tuple> {
  ExprList elements;
};

// Each part may be null. Only inside a Subscript.
struct Slice : ExprOf<NodeKind::Slice> {
  const Expr *lower = nullptr;
  const Expr *upper = nullptr;
  const Expr *step = nullptr;
};

} // namespace nereid::syntax
