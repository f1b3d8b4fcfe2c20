// Names of nodes and operators.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Ast.h"

namespace nereid::syntax {

llvm::StringRef toString(NodeKind kind) {
  static constexpr llvm::StringLiteral names[] = {
#define EXPR(kind, ...) #kind,
#define STMT(kind, ...) #kind,
#include "compiler/syntax/AstNodes.def"
  };
  return names[static_cast<unsigned>(kind)];
}

static llvm::StringRef describeConstant(ConstantKind kind) {
  switch (kind) {
  case ConstantKind::None:
    return "`None`";
  case ConstantKind::True:
    return "`True`";
  case ConstantKind::False:
    return "`False`";
  case ConstantKind::Ellipsis:
    return "`...`";
  case ConstantKind::Int:
  case ConstantKind::Float:
  case ConstantKind::Imaginary:
    return "a number";
  case ConstantKind::Str:
    return "a string";
  case ConstantKind::Bytes:
    return "a bytes literal";
  }
  return "a constant";
}

llvm::StringRef describe(const Expr &expr) {
  static constexpr llvm::StringLiteral descriptions[] = {
#define EXPR(kind, description, ...) description,
#include "compiler/syntax/AstNodes.def"
  };
  if (auto *constant = llvm::dyn_cast<Constant>(&expr))
    return describeConstant(constant->constantKind);
  if (auto *boolOp = llvm::dyn_cast<BoolOp>(&expr))
    return boolOp->op == BoolOperator::And ? "an `and` expression" : "an `or` expression";
  return descriptions[static_cast<unsigned>(expr.kind)];
}

llvm::StringRef spelling(BoolOperator op) { return op == BoolOperator::And ? "and" : "or"; }

llvm::StringRef spelling(UnaryOperator op) {
  static constexpr llvm::StringLiteral names[] = {
#define UNARY(op, text, ...) text,
#include "compiler/syntax/Operators.def"
  };
  return names[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(BinaryOperator op) {
  static constexpr llvm::StringLiteral names[] = {
#define BINARY(op, text, ...) text,
#include "compiler/syntax/Operators.def"
  };
  return names[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(CompareOperator op) {
  static constexpr llvm::StringLiteral names[] = {
#define COMPARE(op, text, ...) text,
#define COMPARE_WORDS(op, text, ...) text,
#include "compiler/syntax/Operators.def"
  };
  return names[static_cast<unsigned>(op)];
}

// A hexadecimal digit holds four bits, an octal one three; 10 decimal digits hold less than 34.
llvm::APInt Constant::integer() const {
  auto bits = static_cast<unsigned>(radix == 10 ? text.size() * 34 / 10 + 1 : text.size() * 4) + 1;
  llvm::APInt wide(std::max(bits, 8u), text, radix);
  return wide.trunc(wide.getActiveBits() + 1);
}

} // namespace nereid::syntax
