// Parses statements without a block.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/StatementParser.h"

namespace nereid::syntax {

static std::optional<BinaryOperator> augmentedOperator(TokenKind kind) {
  switch (kind) {
#define BINARY(op, text, token, assignToken, precedence)                                                               \
  case TokenKind::assignToken:                                                                                         \
    return BinaryOperator::op;
#include "compiler/syntax/Operators.def"
  default:
    return std::nullopt;
  }
}

const Stmt *StatementParser::parseSimpleStatement() {
  switch (peek().kind) {
  case TokenKind::Return:
    return parseReturn();
  case TokenKind::Del:
    return parseDelete();
  case TokenKind::Raise:
    return parseRaise();
  case TokenKind::Assert:
    return parseAssert();
  case TokenKind::Import:
    return parseImport();
  case TokenKind::From:
    return parseImportFrom();
  case TokenKind::Global:
    return parseNameList<Global>();
  case TokenKind::Nonlocal:
    return parseNameList<Nonlocal>();
  case TokenKind::Pass:
    return parseBare<Pass>();
  case TokenKind::Break:
    return parseLoopExit<Break>();
  case TokenKind::Continue:
    return parseLoopExit<Continue>();
  case TokenKind::Elif:
  case TokenKind::Else:
    report(diag::ClauseWithoutStatement, peek().range, spelling(peek()), "`if`");
    return nullptr;
  case TokenKind::Except:
  case TokenKind::Finally:
    report(diag::ClauseWithoutStatement, peek().range, spelling(peek()), "`try`");
    return nullptr;
  default:
    return isAtTypeAlias() ? parseTypeAlias() : parseExpressionStatement();
  }
}

const Stmt *StatementParser::parseExpressionStatement() {
  if (!canStartExpression(peek().kind) && !isAt(TokenKind::Yield)) {
    bool opensBlock = isAt(TokenKind::If) || isAt(TokenKind::While) || isAt(TokenKind::For) || isAt(TokenKind::Def) ||
                      isAt(TokenKind::Class) || isAt(TokenKind::With) || isAt(TokenKind::Try);
    llvm::StringRef hint = opensBlock               ? "; a statement with a block needs a line of its own"
                           : isKeyword(peek().kind) ? "; a keyword cannot be a name"
                                                    : "";
    report(diag::ExpectedStatement, peek().range, describeHere(), hint);
    return nullptr;
  }
  uint32_t begin = here();
  const Expr *value = parseYieldOrStarExpressions();
  if (!value)
    return nullptr;
  if (isAt(TokenKind::Assign))
    return parseAssign(begin, value);
  if (isAt(TokenKind::Colon))
    return parseAnnAssign(begin, value);
  if (std::optional<BinaryOperator> op = augmentedOperator(peek().kind))
    return parseAugAssign(begin, value, *op);
  return create<ExprStmt>(begin, value);
}

const Stmt *StatementParser::parseAssign(uint32_t begin, const Expr *first) {
  Items targets;
  const Expr *value = first;
  while (accept(TokenKind::Assign)) {
    if (!checkTarget(value, "assign to"))
      return nullptr;
    targets.push_back(value);
    value = parseYieldOrStarExpressions();
    if (!value)
      return nullptr;
  }
  return create<Assign>(begin, targets, value);
}

const Stmt *StatementParser::parseAugAssign(uint32_t begin, const Expr *target, BinaryOperator op) {
  SourceRange opRange = take().range;
  if (!checkSingleTarget(target, ("`" + file.text(opRange) + "`").str()))
    return nullptr;
  const Expr *value = parseYieldOrStarExpressions();
  if (!value)
    return nullptr;
  return create<AugAssign>(begin, op, opRange, target, value);
}

const Stmt *StatementParser::parseAnnAssign(uint32_t begin, const Expr *target) {
  take();
  if (!checkSingleTarget(target, "an annotation"))
    return nullptr;
  const Expr *annotation = parseExpression();
  if (!annotation)
    return nullptr;
  const Expr *value = nullptr;
  if (accept(TokenKind::Assign) && !(value = parseYieldOrStarExpressions()))
    return nullptr;
  return create<AnnAssign>(begin, target, annotation, value);
}

const Stmt *StatementParser::parseReturn() {
  SourceRange keyword = take().range;
  if (functionDepth == 0) {
    report(diag::OutsideFunction, keyword, "return");
    return nullptr;
  }
  const Expr *value = nullptr;
  bool isBare = isAt(TokenKind::Newline) || isAt(TokenKind::Semicolon);
  if (!isBare && !(value = parseStarExpressions()))
    return nullptr;
  return create<Return>(keyword.begin, value);
}

const Stmt *StatementParser::parseDelete() {
  uint32_t begin = take().range.begin;
  Items targets;
  bool hasComma = false;
  if (!parseTargets("delete", targets, hasComma))
    return nullptr;
  return create<Delete>(begin, targets);
}

const Stmt *StatementParser::parseRaise() {
  uint32_t begin = take().range.begin;
  const Expr *exception = nullptr;
  const Expr *cause = nullptr;
  bool isBare = isAt(TokenKind::Newline) || isAt(TokenKind::Semicolon);
  if (!isBare && !(exception = parseExpression()))
    return nullptr;
  if (exception && accept(TokenKind::From) && !(cause = parseExpression()))
    return nullptr;
  return create<Raise>(begin, exception, cause);
}

const Stmt *StatementParser::parseAssert() {
  uint32_t begin = take().range.begin;
  const Expr *test = parseExpression();
  if (!test)
    return nullptr;
  const Expr *message = nullptr;
  if (accept(TokenKind::Comma) && !(message = parseExpression()))
    return nullptr;
  return create<Assert>(begin, test, message);
}

bool StatementParser::parseDottedName(llvm::StringRef where, llvm::StringRef &name) {
  Identifier part;
  std::string dotted;
  do {
    if (!expectName(where, part))
      return false;
    dotted += (dotted.empty() ? "" : ".") + part.name.str();
  } while (accept(TokenKind::Dot));
  name = context.intern(dotted);
  return true;
}

bool StatementParser::parseAsName(llvm::StringRef &name) {
  Identifier asName;
  if (!accept(TokenKind::As))
    return true;
  bool ok = expectName("after `as`", asName);
  name = asName.name;
  return ok;
}

bool StatementParser::parseAlias(bool isDotted, Alias &alias) {
  uint32_t begin = here();
  Identifier name;
  bool ok = isDotted ? parseDottedName("of a module", alias.name) : expectName("to import", name);
  if (!isDotted)
    alias.name = name.name;
  ok = ok && parseAsName(alias.asName);
  alias.range = rangeFrom(begin);
  return ok;
}

const Stmt *StatementParser::parseImport() {
  uint32_t begin = take().range.begin;
  llvm::SmallVector<Alias, 4> names;
  do {
    names.emplace_back();
    if (!parseAlias(/*isDotted=*/true, names.back()))
      return nullptr;
  } while (accept(TokenKind::Comma));
  return create<Import>(begin, names);
}

bool StatementParser::parseImportedNames(llvm::SmallVectorImpl<Alias> &names) {
  if (isAt(TokenKind::Star)) {
    SourceRange range = take().range;
    names.push_back({range, context.intern("*"), {}});
    return true;
  }
  bool isInParentheses = accept(TokenKind::LeftParen);
  do {
    if (isInParentheses && isAt(TokenKind::RightParen) && !names.empty())
      break;
    names.emplace_back();
    if (!parseAlias(/*isDotted=*/false, names.back()))
      return false;
  } while (accept(TokenKind::Comma));
  return !isInParentheses || expect(TokenKind::RightParen, "after the imported names");
}

const Stmt *StatementParser::parseImportFrom() {
  uint32_t begin = take().range.begin;
  unsigned level = 0;
  while (isAt(TokenKind::Dot) || isAt(TokenKind::Ellipsis))
    level += take().kind == TokenKind::Dot ? 1 : 3;
  llvm::StringRef module;
  bool hasModule = level == 0 || !isAt(TokenKind::Import);
  llvm::SmallVector<Alias, 4> names;
  if ((hasModule && !parseDottedName("of a module", module)) || !expect(TokenKind::Import, "after the module's name") ||
      !parseImportedNames(names))
    return nullptr;
  return create<ImportFrom>(begin, module, level, names);
}

template <typename T> const Stmt *StatementParser::parseNameList() {
  llvm::StringRef keyword = spelling(peek());
  uint32_t begin = take().range.begin;
  llvm::SmallVector<Identifier, 4> names;
  do {
    names.emplace_back();
    if (!expectName(("after `" + keyword + "`").str(), names.back()))
      return nullptr;
  } while (accept(TokenKind::Comma));
  return create<T>(begin, names);
}

template <typename T> const Stmt *StatementParser::parseBare() {
  uint32_t begin = take().range.begin;
  return create<T>(begin);
}

template <typename T> const Stmt *StatementParser::parseLoopExit() {
  if (loopDepth != 0)
    return parseBare<T>();
  report(diag::OutsideLoop, peek().range, spelling(peek()));
  return nullptr;
}

// `type` is a keyword only here.
bool StatementParser::isAtTypeAlias() const {
  return isAtWord("type") && peek(1).kind == TokenKind::Name &&
         (peek(2).kind == TokenKind::Assign || peek(2).kind == TokenKind::LeftSquare);
}

const Stmt *StatementParser::parseTypeAlias() {
  uint32_t begin = take().range.begin;
  Identifier name;
  SourceRange typeParameters;
  if (!expectName("after `type`", name) || !parseTypeParameters(typeParameters) ||
      !expect(TokenKind::Assign, "after the name of the type"))
    return nullptr;
  const Expr *value = parseExpression();
  if (!value)
    return nullptr;
  return create<TypeAlias>(begin, name, value);
}

} // namespace nereid::syntax
