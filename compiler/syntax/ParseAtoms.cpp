// Parses names, numbers, brackets, displays and comprehensions.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/ExpressionParser.h"
#include "compiler/syntax/Numbers.h"

namespace nereid::syntax {

bool ExpressionParser::canStartExpression(TokenKind kind) const {
  switch (kind) {
  case TokenKind::Name:
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Imaginary:
  case TokenKind::String:
  case TokenKind::FStringStart:
  case TokenKind::False:
  case TokenKind::None:
  case TokenKind::True:
  case TokenKind::Ellipsis:
  case TokenKind::LeftParen:
  case TokenKind::LeftSquare:
  case TokenKind::LeftBrace:
  case TokenKind::Plus:
  case TokenKind::Minus:
  case TokenKind::Tilde:
  case TokenKind::Star:
  case TokenKind::Not:
  case TokenKind::Lambda:
  case TokenKind::Await:
    return true;
  default:
    return false;
  }
}

bool ExpressionParser::isAtComprehension() const {
  return isAt(TokenKind::For) || (isAt(TokenKind::Async) && peek(1).kind == TokenKind::For);
}

std::nullptr_t ExpressionParser::reportMissingExpression() {
  TokenKind kind = peek().kind;
  bool isFirst = at == statementBegin;
  TokenKind before = isFirst ? TokenKind::Newline : tokens[at - 1].kind;
  std::string where = isFirst ? "here" : ("after " + describe(before)).str();
  llvm::StringRef hint;
  bool isDoubled = kind == TokenKind::Newline && at >= statementBegin + 2 && tokens[at - 2].kind == before;
  if (kind == TokenKind::Ampersand && before == TokenKind::Ampersand)
    hint = "; write `and`";
  else if (kind == TokenKind::Pipe && before == TokenKind::Pipe)
    hint = "; write `or`";
  else if (kind == TokenKind::Greater && before == TokenKind::Less)
    hint = "; write `!=`";
  else if (isDoubled && before == TokenKind::Plus)
    hint = "; write `+= 1`";
  else if (isDoubled && before == TokenKind::Minus)
    hint = "; write `-= 1`";
  else if (isKeyword(kind) && !isFirst)
    hint = "; a keyword cannot be a name";
  noteOpenBracket(report(diag::ExpectedExpression, peek().range, where, describeHere(), hint));
  return nullptr;
}

const Expr *ExpressionParser::parseAtom() {
  switch (peek().kind) {
  case TokenKind::Name:
    return parseName();
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return parseNumber();
  case TokenKind::String:
  case TokenKind::FStringStart:
    return parseStrings();
  case TokenKind::False:
    return parseKeywordConstant(ConstantKind::False);
  case TokenKind::None:
    return parseKeywordConstant(ConstantKind::None);
  case TokenKind::True:
    return parseKeywordConstant(ConstantKind::True);
  case TokenKind::Ellipsis:
    return parseKeywordConstant(ConstantKind::Ellipsis);
  case TokenKind::LeftParen:
    return parseParentheses();
  case TokenKind::LeftSquare:
    return parseList();
  case TokenKind::LeftBrace:
    return parseBraces();
  default:
    return reportMissingExpression();
  }
}

const Expr *ExpressionParser::parseName() {
  const Token &token = take();
  return create<Name>(token.range.begin, context.intern(spelling(token)));
}

const Expr *ExpressionParser::parseNumber() {
  const Token &token = take();
  uint32_t begin = token.range.begin;
  if (token.kind == TokenKind::Int) {
    IntText number = readInt(spelling(token));
    return create<Constant>(begin, ConstantKind::Int, number.radix, context.copy(llvm::StringRef(number.digits)));
  }
  bool isFloat = token.kind == TokenKind::Float;
  auto *node = create<Constant>(begin, isFloat ? ConstantKind::Float : ConstantKind::Imaginary);
  node->number = readFloat(spelling(token));
  return node;
}

const Expr *ExpressionParser::parseKeywordConstant(ConstantKind kind) {
  uint32_t begin = take().range.begin;
  return create<Constant>(begin, kind);
}

const Expr *ExpressionParser::parseStarred(ParseFunction parseOperand) {
  Level level(*this);
  uint32_t begin = here();
  take();
  const Expr *value = level ? (this->*parseOperand)() : nullptr;
  return value ? finish(create<Starred>(begin, value)) : nullptr;
}

const Expr *ExpressionParser::parseStarExpression(bool allowNamed) {
  if (isAt(TokenKind::Star))
    return parseStarred(&ExpressionParser::parseBitOr);
  return allowNamed ? parseNamedExpression() : parseExpression();
}

const Expr *ExpressionParser::parseStarExpressions(bool allowNamed) {
  uint32_t begin = here();
  const Expr *first = parseStarExpression(allowNamed);
  if (!first)
    return nullptr;
  if (!isAt(TokenKind::Comma)) {
    if (!llvm::isa<Starred>(first))
      return first;
    report(diag::MisplacedStar, first->range);
    return nullptr;
  }
  Items elements{first};
  while (accept(TokenKind::Comma) && canStartExpression(peek().kind)) {
    elements.push_back(parseStarExpression(allowNamed));
    if (!elements.back())
      return nullptr;
  }
  return finish(create<Tuple>(begin, elements));
}

// The items after the first one, up to and including the closing bracket.
bool ExpressionParser::parseItems(TokenKind closer, Items &items) {
  while (accept(TokenKind::Comma)) {
    if (isAt(closer))
      break;
    items.push_back(parseStarExpression(/*allowNamed=*/true));
    if (!items.back())
      return false;
  }
  if (closer == TokenKind::RightBrace && isAt(TokenKind::Colon)) {
    report(diag::MixedDictSet, peek().range, "a key follows elements of a set");
    return false;
  }
  if (isAtComprehension() && items.size() > 1) {
    report(diag::BareTupleInComprehension, support::join(items.front()->range, items.back()->range));
    return false;
  }
  return expect(closer, closer == TokenKind::RightParen    ? "to close `(`"
                        : closer == TokenKind::RightSquare ? "to close `[`"
                                                           : "to close the set");
}

// `()`, `(a)`, `(a, b)`, `(yield)` or `(a for a in b)`.
const Expr *ExpressionParser::parseParentheses() {
  uint32_t begin = here();
  take();
  if (isAt(TokenKind::Yield)) {
    const Expr *yield = parseYield();
    return yield && expect(TokenKind::RightParen, "after `yield`") ? yield : nullptr;
  }
  Items elements;
  if (!isAt(TokenKind::RightParen)) {
    const Expr *first = parseStarExpression(/*allowNamed=*/true);
    if (!first)
      return nullptr;
    if (isAtComprehension())
      return parseComprehension<GeneratorExp>(begin, first, TokenKind::RightParen);
    if (!isAt(TokenKind::Comma)) {
      if (!expect(TokenKind::RightParen, "to close `(`"))
        return nullptr;
      if (!llvm::isa<Starred>(first))
        return first;
      report(diag::MisplacedStar, first->range);
      return nullptr;
    }
    elements.push_back(first);
  }
  if (!parseItems(TokenKind::RightParen, elements))
    return nullptr;
  return finish(create<Tuple>(begin, elements));
}

const Expr *ExpressionParser::parseList() {
  uint32_t begin = here();
  take();
  Items elements;
  if (!isAt(TokenKind::RightSquare)) {
    elements.push_back(parseStarExpression(/*allowNamed=*/true));
    if (!elements.back())
      return nullptr;
    if (isAtComprehension())
      return parseComprehension<ListComp>(begin, elements.front(), TokenKind::RightSquare);
  }
  if (!parseItems(TokenKind::RightSquare, elements))
    return nullptr;
  return finish(create<List>(begin, elements));
}

// A dict or a set; the first item decides which.
const Expr *ExpressionParser::parseBraces() {
  uint32_t begin = here();
  take();
  const Expr *key = nullptr;
  const Expr *value = nullptr;
  if (isAt(TokenKind::RightBrace))
    return parseDict(begin, nullptr, nullptr);
  if (isAt(TokenKind::StarStar))
    return parseDictItem(key, value) ? parseDict(begin, key, value) : nullptr;
  const Expr *first = parseStarExpression(/*allowNamed=*/true);
  if (!first)
    return nullptr;
  if (accept(TokenKind::Colon)) {
    value = parseExpression();
    return value ? parseDict(begin, first, value) : nullptr;
  }
  if (isAtComprehension())
    return parseComprehension<SetComp>(begin, first, TokenKind::RightBrace);
  Items elements{first};
  if (!parseItems(TokenKind::RightBrace, elements))
    return nullptr;
  return finish(create<Set>(begin, elements));
}

// `key: value`, or `**value` with a null key.
bool ExpressionParser::parseDictItem(const Expr *&key, const Expr *&value) {
  key = nullptr;
  if (accept(TokenKind::StarStar)) {
    value = parseBitOr();
    return value != nullptr;
  }
  key = parseExpression();
  if (!key)
    return false;
  if (isAt(TokenKind::Comma) || isAt(TokenKind::RightBrace)) {
    report(diag::MixedDictSet, key->range, "an element without a value follows keys of a dict");
    return false;
  }
  if (!expect(TokenKind::Colon, "after a key of the dict"))
    return false;
  value = parseExpression();
  return value != nullptr;
}

// Parses what follows the first item; a null value means there is no value.
const Expr *ExpressionParser::parseDict(uint32_t begin, const Expr *key, const Expr *value) {
  Items keys, values;
  if (value) {
    keys.push_back(key);
    values.push_back(value);
  }
  if (value && isAtComprehension()) {
    if (!key) {
      report(diag::StarInComprehension, value->range, "**");
      return nullptr;
    }
    llvm::SmallVector<Comprehension, 2> generators;
    if (!parseGenerators(generators) || !expect(TokenKind::RightBrace, "to close the comprehension"))
      return nullptr;
    return finish(create<DictComp>(begin, key, value, generators));
  }
  while (accept(TokenKind::Comma) && !isAt(TokenKind::RightBrace)) {
    if (!parseDictItem(key, value))
      return nullptr;
    keys.push_back(key);
    values.push_back(value);
  }
  if (!expect(TokenKind::RightBrace, "to close the dict"))
    return nullptr;
  return finish(create<Dict>(begin, DictEntries{stored(keys), stored(values)}));
}

template <typename T>
const Expr *ExpressionParser::parseComprehension(uint32_t begin, const Expr *element, TokenKind closer) {
  if (llvm::isa<Starred>(element)) {
    report(diag::StarInComprehension, element->range, "*");
    return nullptr;
  }
  llvm::SmallVector<Comprehension, 2> generators;
  if (!parseGenerators(generators) || !expect(closer, "to close the comprehension"))
    return nullptr;
  return finish(create<T>(begin, element, generators));
}

bool ExpressionParser::parseGenerators(llvm::SmallVectorImpl<Comprehension> &generators) {
  while (isAtComprehension()) {
    Comprehension generator;
    uint32_t begin = here();
    generator.isAsync = accept(TokenKind::Async);
    take();
    generator.target = parseTargetList("assign to");
    if (!generator.target || !expect(TokenKind::In, "after the target of `for`"))
      return false;
    generator.iterable = parseDisjunction();
    if (!generator.iterable)
      return false;
    Items conditions;
    while (accept(TokenKind::If)) {
      conditions.push_back(parseDisjunction());
      if (!conditions.back())
        return false;
    }
    generator.conditions = context.copy<const Expr *>(conditions);
    generator.range = rangeFrom(begin);
    generators.push_back(generator);
  }
  return true;
}

} // namespace nereid::syntax
