// Parses operators of expressions, from `:=` and `if else` down to `**`.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/ExpressionParser.h"

#include "compiler/syntax/AstChildren.h"
#include "compiler/syntax/Diagnostics.h"

#include <optional>

namespace nereid::syntax {

ExpressionParser::Level::Level(ExpressionParser &parser)
    : parser(parser), isAllowed(++parser.nesting <= maxExpressionNesting) {
  if (!isAllowed)
    parser.report(diag::ExpressionTooDeep, parser.peek().range, maxExpressionNesting);
}

bool ExpressionParser::setDepth(Expr &node) {
  unsigned depth = 0;
  forEachChild(&node, [&](const Expr *part) { depth = std::max<unsigned>(depth, part->depth); });
  if (depth >= maxExpressionDepth) {
    report(diag::ExpressionTooLong, node.range, maxExpressionDepth);
    return false;
  }
  node.depth = static_cast<uint16_t>(depth + 1);
  return true;
}

const Expr *ExpressionParser::parseNamedExpression() {
  if (!isAt(TokenKind::Name) || peek(1).kind != TokenKind::ColonAssign)
    return parseExpression();
  Level level(*this);
  uint32_t begin = here();
  const Expr *target = parseName();
  take();
  const Expr *value = level ? parseExpression() : nullptr;
  if (!value)
    return nullptr;
  return finish(create<NamedExpr>(begin, llvm::cast<Name>(target), value));
}

const Expr *ExpressionParser::parseExpression() {
  if (isAt(TokenKind::Lambda))
    return parseLambda();
  uint32_t begin = here();
  const Expr *body = parseDisjunction();
  if (!body || !accept(TokenKind::If))
    return body;
  const Expr *test = parseDisjunction();
  if (!test || !expect(TokenKind::Else, "after the condition of `a if condition else b`"))
    return nullptr;
  Level level(*this);
  const Expr *orelse = level ? parseExpression() : nullptr;
  if (!orelse)
    return nullptr;
  return finish(create<IfExp>(begin, test, body, orelse));
}

const Expr *ExpressionParser::parseLambda() {
  Level level(*this);
  if (!level)
    return nullptr;
  uint32_t begin = here();
  take();
  llvm::SmallVector<Parameter, 4> parameters;
  if (!parseParameters(TokenKind::Colon, parameters) || !expect(TokenKind::Colon, "after the parameters of `lambda`"))
    return nullptr;
  const Expr *body = parseExpression();
  if (!body)
    return nullptr;
  return finish(create<Lambda>(begin, parameters, body));
}

const Expr *ExpressionParser::parseBoolOp(BoolOperator op, TokenKind token, ParseFunction parseOperand) {
  uint32_t begin = here();
  const Expr *first = (this->*parseOperand)();
  if (!first || !isAt(token))
    return first;
  Items values{first};
  llvm::SmallVector<SourceRange, 4> opRanges;
  while (isAt(token)) {
    opRanges.push_back(take().range);
    const Expr *value = (this->*parseOperand)();
    if (!value)
      return nullptr;
    values.push_back(value);
  }
  return finish(create<BoolOp>(begin, op, values, opRanges));
}

const Expr *ExpressionParser::parseDisjunction() {
  return parseBoolOp(BoolOperator::Or, TokenKind::Or, &ExpressionParser::parseConjunction);
}

const Expr *ExpressionParser::parseConjunction() {
  return parseBoolOp(BoolOperator::And, TokenKind::And, &ExpressionParser::parseNot);
}

const Expr *ExpressionParser::parseUnaryOp(UnaryOperator op, ParseFunction parseOperand) {
  Level level(*this);
  uint32_t begin = here();
  SourceRange opRange = take().range;
  const Expr *operand = level ? (this->*parseOperand)() : nullptr;
  return operand ? finish(create<UnaryOp>(begin, op, opRange, operand)) : nullptr;
}

const Expr *ExpressionParser::parseNot() {
  if (!isAt(TokenKind::Not))
    return parseComparison();
  return parseUnaryOp(UnaryOperator::Not, &ExpressionParser::parseNot);
}

static std::optional<CompareOperator> compareOperator(TokenKind kind, TokenKind next) {
#define COMPARE_WORDS(op, text, first, second)                                                                         \
  if (kind == TokenKind::first && next == TokenKind::second)                                                           \
    return CompareOperator::op;
#include "compiler/syntax/Operators.def"
  switch (kind) {
#define COMPARE(op, text, token)                                                                                       \
  case TokenKind::token:                                                                                               \
    return CompareOperator::op;
#include "compiler/syntax/Operators.def"
  default:
    return std::nullopt;
  }
}

const Expr *ExpressionParser::parseComparison() {
  uint32_t begin = here();
  const Expr *left = parseBitOr();
  if (!left)
    return nullptr;
  llvm::SmallVector<CompareOperator, 2> ops;
  llvm::SmallVector<SourceRange, 2> opRanges;
  Items comparators;
  while (std::optional<CompareOperator> op = compareOperator(peek().kind, peek(1).kind)) {
    SourceRange opRange = take().range;
    if (*op == CompareOperator::IsNot || *op == CompareOperator::NotIn)
      opRange = support::join(opRange, take().range);
    const Expr *right = parseBitOr();
    if (!right)
      return nullptr;
    ops.push_back(*op);
    opRanges.push_back(opRange);
    comparators.push_back(right);
  }
  if (ops.empty())
    return left;
  return finish(create<Compare>(begin, left, ops, opRanges, comparators));
}

namespace {
struct BinaryRule {
  unsigned precedence; // larger binds tighter
  BinaryOperator op;
};
} // namespace

static std::optional<BinaryRule> binaryRule(TokenKind kind) {
  switch (kind) {
#define BINARY(op, text, token, assignToken, precedence)                                                               \
  case TokenKind::token:                                                                                               \
    return BinaryRule{precedence, BinaryOperator::op};
#include "compiler/syntax/Operators.def"
  default:
    return std::nullopt;
  }
}

// Operators of one precedence nest to the left, in this loop; the call for the right side parses operators that bind
// tighter.
const Expr *ExpressionParser::parseBinary(unsigned minPrecedence) {
  uint32_t begin = here();
  const Expr *left = parseUnary();
  while (left) {
    std::optional<BinaryRule> rule = binaryRule(peek().kind);
    if (!rule || rule->precedence < minPrecedence)
      break;
    SourceRange opRange = take().range;
    const Expr *right = parseBinary(rule->precedence + 1);
    if (!right)
      return nullptr;
    left = finish(create<BinOp>(begin, rule->op, opRange, left, right));
  }
  return left;
}

static std::optional<UnaryOperator> unaryOperator(TokenKind kind) {
  switch (kind) {
#define UNARY(op, text, token)                                                                                         \
  case TokenKind::token:                                                                                               \
    return UnaryOperator::op;
#include "compiler/syntax/Operators.def"
  default:
    return std::nullopt;
  }
}

const Expr *ExpressionParser::parseUnary() {
  std::optional<UnaryOperator> op = unaryOperator(peek().kind);
  if (!op || *op == UnaryOperator::Not)
    return parsePower();
  return parseUnaryOp(*op, &ExpressionParser::parseUnary);
}

const Expr *ExpressionParser::parsePower() {
  uint32_t begin = here();
  const Expr *base = parseAwait();
  if (!base || !isAt(TokenKind::StarStar))
    return base;
  Level level(*this);
  SourceRange opRange = take().range;
  const Expr *exponent = level ? parseUnary() : nullptr;
  if (!exponent)
    return nullptr;
  return finish(create<BinOp>(begin, BinaryOperator::Pow, opRange, base, exponent));
}

const Expr *ExpressionParser::parseAwait() {
  if (!isAt(TokenKind::Await))
    return parsePrimary();
  uint32_t begin = here();
  take();
  const Expr *value = parsePrimary();
  return value ? finish(create<Await>(begin, value)) : nullptr;
}

const Expr *ExpressionParser::parseYield() {
  Level level(*this);
  if (!level)
    return nullptr;
  uint32_t begin = here();
  take();
  if (accept(TokenKind::From)) {
    const Expr *value = parseExpression();
    return value ? finish(create<YieldFrom>(begin, value)) : nullptr;
  }
  const Expr *value = nullptr;
  if (canStartExpression(peek().kind) && !(value = parseStarExpressions()))
    return nullptr;
  return finish(create<Yield>(begin, value));
}

} // namespace nereid::syntax
