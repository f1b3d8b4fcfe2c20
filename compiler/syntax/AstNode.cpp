// Names of nodes and operators.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Ast.h"

namespace nereid::syntax {

llvm::StringRef toString(NodeKind kind) {
  switch (kind) {
#define EXPR(name)                                                                                                     \
  case NodeKind::name:                                                                                                 \
    return #name;
#define STMT(name) EXPR(name)
#include "compiler/syntax/AstNodes.def"
  }
  return "node";
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
  switch (expr.kind) {
  case NodeKind::BoolOp:
    return llvm::cast<BoolOp>(expr).op == BoolOperator::And ? "an `and` expression" : "an `or` expression";
  case NodeKind::NamedExpr:
    return "an assignment with `:=`";
  case NodeKind::BinOp:
  case NodeKind::UnaryOp:
    return "the result of an operator";
  case NodeKind::Lambda:
    return "a lambda";
  case NodeKind::IfExp:
    return "a conditional expression";
  case NodeKind::Dict:
    return "a dict";
  case NodeKind::Set:
    return "a set";
  case NodeKind::ListComp:
  case NodeKind::SetComp:
  case NodeKind::DictComp:
    return "a comprehension";
  case NodeKind::GeneratorExp:
    return "a generator expression";
  case NodeKind::Await:
    return "an `await` expression";
  case NodeKind::Yield:
  case NodeKind::YieldFrom:
    return "a `yield` expression";
  case NodeKind::Compare:
    return "a comparison";
  case NodeKind::Call:
    return "a call";
  case NodeKind::FormattedValue:
  case NodeKind::JoinedStr:
    return "an f-string";
  case NodeKind::Constant:
    return describeConstant(llvm::cast<Constant>(expr).constantKind);
  case NodeKind::Attribute:
    return "an attribute";
  case NodeKind::Subscript:
    return "an item";
  case NodeKind::Starred:
    return "a starred expression";
  case NodeKind::Name:
    return "a name";
  case NodeKind::List:
    return "a list";
  case NodeKind::Tuple:
    return "a tuple";
  case NodeKind::Slice:
    return "a slice";
  default:
    return "a statement";
  }
}

llvm::StringRef spelling(BoolOperator op) { return op == BoolOperator::And ? "and" : "or"; }

llvm::StringRef spelling(UnaryOperator op) {
  static constexpr llvm::StringLiteral names[] = {"~", "not", "+", "-"};
  return names[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(BinaryOperator op) {
  static constexpr llvm::StringLiteral names[] = {"+", "-", "*", "@", "/", "%", "**", "<<", ">>", "|", "^", "&", "//"};
  return names[static_cast<unsigned>(op)];
}

llvm::StringRef spelling(CompareOperator op) {
  static constexpr llvm::StringLiteral names[] = {"==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in"};
  return names[static_cast<unsigned>(op)];
}

// A hexadecimal digit holds four bits, an octal one three; 10 decimal digits hold less than 34.
llvm::APInt Constant::integer() const {
  auto bits = static_cast<unsigned>(radix == 10 ? text.size() * 34 / 10 + 1 : text.size() * 4) + 1;
  llvm::APInt wide(std::max(bits, 8u), text, radix);
  return wide.trunc(wide.getActiveBits() + 1);
}

} // namespace nereid::syntax
