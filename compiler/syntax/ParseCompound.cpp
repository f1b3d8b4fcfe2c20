// Parses statements with blocks: if, while, for, with, try and match.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/StatementParser.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SaveAndRestore.h"

namespace nereid::syntax {

// A chain of `elif` is parsed in a loop and then nested from its end; each counts as one level of blocks.
const Stmt *StatementParser::parseIf() {
  llvm::SaveAndRestore<unsigned> outerDepth(blockDepth);
  llvm::SmallVector<If *, 4> chain;
  do {
    SourceRange header = peek().range;
    llvm::StringRef keyword = spelling(take());
    if (blockDepth + 1 >= maxBlockDepth && !chain.empty()) {
      report(diag::BlockTooDeep, header, maxBlockDepth);
      return nullptr;
    }
    const Expr *test = parseNamedExpression();
    if (!test)
      return nullptr;
    std::string name = ("`" + keyword + "`").str();
    std::optional<Block> body = parseBlock(header, name, "after the condition of " + name);
    if (!body)
      return nullptr;
    chain.push_back(create<If>(header.begin, test, *body));
    ++blockDepth;
  } while (isAt(TokenKind::Elif));

  std::optional<Block> orelse = parseElse();
  if (!orelse)
    return nullptr;
  for (If *node : llvm::reverse(chain)) {
    node->range.end = lastEnd;
    node->orelse = *orelse;
    orelse = context.copy<const Stmt *>(node);
  }
  return chain.front();
}

// The block of an `else`, empty where there is none; nothing after an error.
std::optional<Block> StatementParser::parseElse() {
  if (!isAt(TokenKind::Else))
    return Block{};
  SourceRange header = take().range;
  if (isAt(TokenKind::If)) {
    report(diag::ExpectedToken, support::join(header, peek().range), "`:`", "after `else`", "`if`", "; write `elif`");
    return std::nullopt;
  }
  return parseBlock(header, "`else`", "after `else`");
}

std::optional<Block> StatementParser::parseLoopBody(SourceRange header, llvm::StringRef name,
                                                    llvm::StringRef colonAfter) {
  llvm::SaveAndRestore<unsigned> insideLoop(loopDepth, loopDepth + 1);
  return parseBlock(header, name, colonAfter);
}

const Stmt *StatementParser::parseWhile() {
  SourceRange header = take().range;
  const Expr *test = parseNamedExpression();
  if (!test)
    return nullptr;
  std::optional<Block> body = parseLoopBody(header, "`while`", "after the condition of `while`");
  std::optional<Block> orelse = body ? parseElse() : std::nullopt;
  if (!orelse)
    return nullptr;
  return create<While>(header.begin, test, *body, *orelse);
}

const Stmt *StatementParser::parseFor(uint32_t begin, bool isAsync) {
  SourceRange header = take().range;
  const Expr *target = parseTargetList("assign to");
  if (!target || !expect(TokenKind::In, "after the target of `for`"))
    return nullptr;
  const Expr *iterable = parseStarExpressions();
  if (!iterable)
    return nullptr;
  std::optional<Block> body = parseLoopBody(header, "`for`", "after the range of `for`");
  std::optional<Block> orelse = body ? parseElse() : std::nullopt;
  if (!orelse)
    return nullptr;
  return create<For>(begin, target, iterable, *body, *orelse, isAsync);
}

// Distinguishes `with (a as b, c):` from `with (a, b) as c:`; the brackets of the first hold an `as`.
bool StatementParser::isParenthesizedWith() const {
  unsigned open = 0;
  bool hasAs = false;
  for (size_t i = at; tokens[i].kind != TokenKind::Newline && tokens[i].kind != TokenKind::EndOfText; ++i) {
    TokenKind kind = tokens[i].kind;
    hasAs |= kind == TokenKind::As && open == 1;
    open += kind == TokenKind::LeftParen || kind == TokenKind::LeftSquare || kind == TokenKind::LeftBrace;
    open -= kind == TokenKind::RightParen || kind == TokenKind::RightSquare || kind == TokenKind::RightBrace;
    if (open == 0)
      return hasAs && tokens[i].kind == TokenKind::RightParen;
  }
  return false;
}

bool StatementParser::parseWithItem(llvm::SmallVectorImpl<WithItem> &items) {
  WithItem item;
  item.context = parseExpression();
  if (!item.context)
    return false;
  if (accept(TokenKind::As)) {
    item.target = parseBitOr();
    if (!item.target || !checkTarget(item.target, "assign to"))
      return false;
  }
  items.push_back(item);
  return true;
}

bool StatementParser::parseWithItems(llvm::SmallVectorImpl<WithItem> &items) {
  uint32_t begin = here();
  bool isParenthesized = isParenthesizedWith();
  if (isParenthesized)
    take();
  do {
    if (isParenthesized && isAt(TokenKind::RightParen))
      break;
    if (!parseWithItem(items))
      return false;
  } while (accept(TokenKind::Comma));
  if (isParenthesized)
    return expect(TokenKind::RightParen, "after the items of `with`");
  // `with (a, b):` has two items, not a tuple.
  const auto *tuple = llvm::dyn_cast<Tuple>(items.front().context);
  bool isItemList = tuple && items.size() == 1 && !items.front().target && !tuple->elements.empty() &&
                    tuple->range.begin == begin && llvm::none_of(tuple->elements, llvm::IsaPred<Starred, NamedExpr>);
  if (isItemList) {
    items.clear();
    for (const Expr *element : tuple->elements)
      items.push_back({element, nullptr});
  }
  return true;
}

const Stmt *StatementParser::parseWith(uint32_t begin, bool isAsync) {
  SourceRange header = take().range;
  llvm::SmallVector<WithItem, 2> items;
  if (!parseWithItems(items))
    return nullptr;
  std::optional<Block> body = parseBlock(header, "`with`", "after the items of `with`");
  if (!body)
    return nullptr;
  return create<With>(begin, items, *body, isAsync);
}

const Stmt *StatementParser::parseTry() {
  SourceRange header = take().range;
  std::optional<Block> body = parseBlock(header, "`try`", "after `try`");
  if (!body)
    return nullptr;
  auto *node = create<Try>(header.begin);
  llvm::SmallVector<ExceptHandler, 2> handlers;
  if (!parseHandlers(*node, handlers))
    return nullptr;
  std::optional<Block> orelse = handlers.empty() ? Block{} : parseElse();
  if (!orelse)
    return nullptr;
  bool hasFinally = isAt(TokenKind::Finally);
  if (hasFinally) {
    SourceRange finallyHeader = take().range;
    std::optional<Block> finalbody = parseBlock(finallyHeader, "`finally`", "after `finally`");
    if (!finalbody)
      return nullptr;
    node->finalbody = *finalbody;
  } else if (handlers.empty()) {
    diagnostics.report(diag::TryWithoutHandler, fileRange(header));
  }
  node->range.end = lastEnd;
  node->body = *body;
  node->handlers = context.copy<ExceptHandler>(handlers);
  node->orelse = *orelse;
  return node;
}

bool StatementParser::parseHandlers(Try &node, llvm::SmallVectorImpl<ExceptHandler> &handlers) {
  while (isAt(TokenKind::Except)) {
    SourceRange header = take().range;
    bool isStar = accept(TokenKind::Star);
    if (!handlers.empty() && isStar != node.isStar) {
      report(diag::MixedExceptStar, header);
      return false;
    }
    if (!handlers.empty() && !handlers.back().type) {
      report(diag::ExceptNotLast, handlers.back().range);
      return false;
    }
    node.isStar = isStar;
    ExceptHandler handler;
    if (!parseHandlerHead(handler, isStar))
      return false;
    std::optional<Block> body = parseBlock(header, "`except`", "after `except`");
    if (!body)
      return false;
    handler.body = *body;
    handler.range = rangeFrom(header.begin);
    handlers.push_back(handler);
  }
  return true;
}

bool StatementParser::parseHandlerHead(ExceptHandler &handler, bool isStar) {
  if (isAt(TokenKind::Colon)) {
    if (isStar)
      report(diag::ExceptStarWithoutType, peek().range);
    return !isStar;
  }
  handler.type = parseExpression();
  if (!handler.type)
    return false;
  if (isAt(TokenKind::Comma)) {
    report(diag::ExpectedToken, peek().range, "`:`", "after `except`", "`,`",
           "; put parentheses around several exception classes");
    return false;
  }
  return !accept(TokenKind::As) || expectName("after `as`", handler.name);
}

const Stmt *StatementParser::parseAsync() {
  uint32_t begin = here();
  Items noDecorators;
  take();
  if (isAt(TokenKind::Def))
    return parseFunctionDef(begin, /*isAsync=*/true, noDecorators);
  if (isAt(TokenKind::For))
    return parseFor(begin, /*isAsync=*/true);
  if (isAt(TokenKind::With))
    return parseWith(begin, /*isAsync=*/true);
  report(diag::ExpectedToken, peek().range, "`def`, `for` or `with`", "after `async`", describeHere(), "");
  return nullptr;
}

// `match` is a keyword only before a subject, `:` and an indented `case`.
bool StatementParser::isAtMatch() const {
  if (!isAtWord("match"))
    return false;
  size_t end = at + 1;
  while (tokens[end].kind != TokenKind::Newline && tokens[end].kind != TokenKind::EndOfText)
    ++end;
  return end > at + 2 && tokens[end - 1].kind == TokenKind::Colon && end + 2 < tokens.size() &&
         tokens[end + 1].kind == TokenKind::Indent && spelling(tokens[end + 2]) == "case";
}

const Stmt *StatementParser::parseMatch() {
  uint32_t begin = take().range.begin;
  const Expr *subject = parseStarExpressions(/*allowNamed=*/true);
  if (subject)
    expect(TokenKind::Colon, "after the subject of `match`");
  // The cases are no statements: they are skipped even after an error.
  while (take().kind != TokenKind::Newline) {
  }
  skipTokensOfBlock();
  return create<Match>(begin, subject);
}

} // namespace nereid::syntax
