// Parses operators of expressions, from `:=` and `if else` down to `**`.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/ExpressionParser.h"

#include "compiler/syntax/Diagnostics.h"

#include <optional>

namespace nereid::syntax {

ExpressionParser::Level::Level(ExpressionParser &parser)
    : parser(parser), isAllowed(++parser.nesting <= maxExpressionNesting) {
  if (!isAllowed)
    parser.report(diag::ExpressionTooDeep, parser.peek().range, maxExpressionNesting);
}

void ExpressionParser::reportTooLong(SourceRange range) { report(diag::ExpressionTooLong, range, maxExpressionDepth); }

unsigned ExpressionParser::depthOf(ExprList parts) {
  unsigned depth = 0;
  for (const Expr *part : parts)
    depth = std::max(depth, depthOf(part));
  return depth;
}

unsigned ExpressionParser::depthOf(llvm::ArrayRef<Comprehension> generators) {
  unsigned depth = 0;
  for (const Comprehension &generator : generators)
    depth = std::max({depth, depthOf(generator.target), depthOf(generator.iterable), depthOf(generator.conditions)});
  return depth;
}

unsigned ExpressionParser::depthOf(llvm::ArrayRef<Parameter> parameters) {
  unsigned depth = 0;
  for (const Parameter &parameter : parameters)
    depth = std::max({depth, depthOf(parameter.annotation), depthOf(parameter.defaultValue)});
  return depth;
}

unsigned ExpressionParser::depthOf(llvm::ArrayRef<Keyword> keywords) {
  unsigned depth = 0;
  for (const Keyword &keyword : keywords)
    depth = std::max(depth, depthOf(keyword.value));
  return depth;
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
  auto *node = create<NamedExpr>(begin);
  node->target = llvm::cast<Name>(target);
  node->value = value;
  return finish(node, depthOf(value));
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
  auto *node = create<IfExp>(begin);
  node->test = test;
  node->body = body;
  node->orelse = orelse;
  return finish(node, std::max({depthOf(test), depthOf(body), depthOf(orelse)}));
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
  auto *node = create<Lambda>(begin);
  node->parameters = context.copy<Parameter>(parameters);
  node->body = body;
  return finish(node, std::max(depthOf(body), depthOf(node->parameters)));
}

const Expr *ExpressionParser::parseBoolOp(BoolOperator op, TokenKind token,
                                          const Expr *(ExpressionParser::*parseOperand)()) {
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
  auto *node = create<BoolOp>(begin);
  node->op = op;
  node->values = context.copy<const Expr *>(values);
  node->opRanges = context.copy<SourceRange>(opRanges);
  return finish(node, depthOf(node->values));
}

const Expr *ExpressionParser::parseDisjunction() {
  return parseBoolOp(BoolOperator::Or, TokenKind::Or, &ExpressionParser::parseConjunction);
}

const Expr *ExpressionParser::parseConjunction() {
  return parseBoolOp(BoolOperator::And, TokenKind::And, &ExpressionParser::parseNot);
}

const Expr *ExpressionParser::parseNot() {
  if (!isAt(TokenKind::Not))
    return parseComparison();
  Level level(*this);
  uint32_t begin = here();
  SourceRange opRange = take().range;
  const Expr *operand = level ? parseNot() : nullptr;
  if (!operand)
    return nullptr;
  auto *node = create<UnaryOp>(begin);
  node->op = UnaryOperator::Not;
  node->opRange = opRange;
  node->operand = operand;
  return finish(node, depthOf(operand));
}

static std::optional<CompareOperator> compareOperator(TokenKind kind, TokenKind next) {
  switch (kind) {
  case TokenKind::EqualEqual:
    return CompareOperator::Eq;
  case TokenKind::NotEqual:
    return CompareOperator::NotEq;
  case TokenKind::Less:
    return CompareOperator::Lt;
  case TokenKind::LessEqual:
    return CompareOperator::LtE;
  case TokenKind::Greater:
    return CompareOperator::Gt;
  case TokenKind::GreaterEqual:
    return CompareOperator::GtE;
  case TokenKind::In:
    return CompareOperator::In;
  case TokenKind::Is:
    return next == TokenKind::Not ? CompareOperator::IsNot : CompareOperator::Is;
  case TokenKind::Not:
    return next == TokenKind::In ? std::optional(CompareOperator::NotIn) : std::nullopt;
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
  auto *node = create<Compare>(begin);
  node->left = left;
  node->ops = context.copy<CompareOperator>(ops);
  node->opRanges = context.copy<SourceRange>(opRanges);
  node->comparators = context.copy<const Expr *>(comparators);
  return finish(node, std::max(depthOf(left), depthOf(node->comparators)));
}

namespace {
struct BinaryRule {
  unsigned precedence; // larger binds tighter
  BinaryOperator op;
};
} // namespace

static std::optional<BinaryRule> binaryRule(TokenKind kind) {
  switch (kind) {
  case TokenKind::Pipe:
    return BinaryRule{0, BinaryOperator::BitOr};
  case TokenKind::Caret:
    return BinaryRule{1, BinaryOperator::BitXor};
  case TokenKind::Ampersand:
    return BinaryRule{2, BinaryOperator::BitAnd};
  case TokenKind::LeftShift:
    return BinaryRule{3, BinaryOperator::LeftShift};
  case TokenKind::RightShift:
    return BinaryRule{3, BinaryOperator::RightShift};
  case TokenKind::Plus:
    return BinaryRule{4, BinaryOperator::Add};
  case TokenKind::Minus:
    return BinaryRule{4, BinaryOperator::Sub};
  case TokenKind::Star:
    return BinaryRule{5, BinaryOperator::Mult};
  case TokenKind::Slash:
    return BinaryRule{5, BinaryOperator::Div};
  case TokenKind::SlashSlash:
    return BinaryRule{5, BinaryOperator::FloorDiv};
  case TokenKind::Percent:
    return BinaryRule{5, BinaryOperator::Mod};
  case TokenKind::At:
    return BinaryRule{5, BinaryOperator::MatMult};
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
    auto *node = create<BinOp>(begin);
    node->op = rule->op;
    node->opRange = opRange;
    node->left = left;
    node->right = right;
    left = finish(node, std::max(depthOf(left), depthOf(right)));
  }
  return left;
}

static std::optional<UnaryOperator> unaryOperator(TokenKind kind) {
  switch (kind) {
  case TokenKind::Plus:
    return UnaryOperator::Plus;
  case TokenKind::Minus:
    return UnaryOperator::Minus;
  case TokenKind::Tilde:
    return UnaryOperator::Invert;
  default:
    return std::nullopt;
  }
}

const Expr *ExpressionParser::parseUnary() {
  std::optional<UnaryOperator> op = unaryOperator(peek().kind);
  if (!op)
    return parsePower();
  Level level(*this);
  uint32_t begin = here();
  SourceRange opRange = take().range;
  const Expr *operand = level ? parseUnary() : nullptr;
  if (!operand)
    return nullptr;
  auto *node = create<UnaryOp>(begin);
  node->op = *op;
  node->opRange = opRange;
  node->operand = operand;
  return finish(node, depthOf(operand));
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
  auto *node = create<BinOp>(begin);
  node->op = BinaryOperator::Pow;
  node->opRange = opRange;
  node->left = base;
  node->right = exponent;
  return finish(node, std::max(depthOf(base), depthOf(exponent)));
}

const Expr *ExpressionParser::parseAwait() {
  if (!isAt(TokenKind::Await))
    return parsePrimary();
  uint32_t begin = here();
  take();
  const Expr *value = parsePrimary();
  if (!value)
    return nullptr;
  auto *node = create<Await>(begin);
  node->value = value;
  return finish(node, depthOf(value));
}

const Expr *ExpressionParser::parseYield() {
  Level level(*this);
  if (!level)
    return nullptr;
  uint32_t begin = here();
  take();
  if (accept(TokenKind::From)) {
    const Expr *value = parseExpression();
    if (!value)
      return nullptr;
    auto *node = create<YieldFrom>(begin);
    node->value = value;
    return finish(node, depthOf(value));
  }
  const Expr *value = nullptr;
  if (canStartExpression(peek().kind) && !(value = parseStarExpressions()))
    return nullptr;
  auto *node = create<Yield>(begin);
  node->value = value;
  return finish(node, depthOf(value));
}

} // namespace nereid::syntax
