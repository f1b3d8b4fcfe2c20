// Parses blocks, recovers after errors, and implements the two entry points of the parser.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/StatementParser.h"

#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/Parser.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::syntax {

// Parses up to the Dedent that ends the block, or the end of the text.
void StatementParser::parseStatements(Statements &statements) {
  while (!isAt(TokenKind::Dedent) && !isAt(TokenKind::EndOfText)) {
    if (isAt(TokenKind::Indent)) {
      report(diag::UnexpectedIndent, peek().range);
      skipIndentedBlock();
      continue;
    }
    if (hasGivenUp())
      skipLine();
    else if (!parseStatement(statements))
      recover();
  }
}

bool StatementParser::parseStatement(Statements &statements) {
  Items noDecorators;
  const Stmt *statement = nullptr;
  switch (peek().kind) {
  case TokenKind::If:
    statement = parseIf();
    break;
  case TokenKind::While:
    statement = parseWhile();
    break;
  case TokenKind::For:
    statement = parseFor(here(), /*isAsync=*/false);
    break;
  case TokenKind::With:
    statement = parseWith(here(), /*isAsync=*/false);
    break;
  case TokenKind::Try:
    statement = parseTry();
    break;
  case TokenKind::Def:
    statement = parseFunctionDef(here(), /*isAsync=*/false, noDecorators);
    break;
  case TokenKind::Class:
    statement = parseClass(noDecorators);
    break;
  case TokenKind::At:
    statement = parseDecorated();
    break;
  case TokenKind::Async:
    statement = parseAsync();
    break;
  default:
    if (!isAtMatch())
      return parseSimpleLine(statements);
    statement = parseMatch();
    break;
  }
  if (statement)
    statements.push_back(statement);
  return statement != nullptr;
}

// `a; b; c` and the end of the line.
bool StatementParser::parseSimpleLine(Statements &statements) {
  while (true) {
    const Stmt *statement = parseSimpleStatement();
    if (!statement)
      return false;
    statements.push_back(statement);
    if (accept(TokenKind::Newline))
      return true;
    if (!accept(TokenKind::Semicolon))
      return reportStatementEnd();
    if (accept(TokenKind::Newline))
      return true;
  }
}

bool StatementParser::reportStatementEnd() {
  llvm::StringRef hint;
  const Token &last = tokens[at - 1];
  bool isOperand = isAt(TokenKind::String) || isAt(TokenKind::FStringStart) || isAt(TokenKind::Name) ||
                   isAt(TokenKind::Int) || isAt(TokenKind::Float);
  if (isAt(TokenKind::Assign)) {
    report(diag::AssignInExpression, peek().range, "the end of the statement");
    return false;
  }
  if (isAt(TokenKind::ColonAssign))
    hint = "; write `=`, or put parentheses around an assignment with `:=`";
  else if (isOperand && last.kind == TokenKind::Name && spelling(last) == "print")
    hint = "; write `print(...)`";
  else if (isOperand)
    hint = "; is an operator or a comma missing?";
  report(diag::ExpectedStatementEnd, peek().range, describeHere(), hint);
  return false;
}

void StatementParser::skipLine() {
  while (!isAt(TokenKind::EndOfText) && take().kind != TokenKind::Newline) {
  }
  while (isAt(TokenKind::Indent))
    skipIndentedBlock();
}

// Parses the current block for its errors alone.
void StatementParser::skipIndentedBlock() {
  bool isTooDeep = blockDepth >= maxBlockDepth;
  if (!isTooDeep && !hasGivenUp()) {
    // Its header may have been a loop's or a function's.
    llvm::SaveAndRestore<unsigned> deeper(blockDepth, blockDepth + 1);
    llvm::SaveAndRestore<unsigned> insideLoop(loopDepth, loopDepth + 1);
    llvm::SaveAndRestore<unsigned> insideFunction(functionDepth, functionDepth + 1);
    take();
    Statements ignored;
    parseStatements(ignored);
    accept(TokenKind::Dedent);
    return;
  }
  skipTokensOfBlock();
}

void StatementParser::skipTokensOfBlock() {
  unsigned open = 0;
  do {
    open += isAt(TokenKind::Indent);
    open -= isAt(TokenKind::Dedent);
    take();
  } while (open != 0 && !isAt(TokenKind::EndOfText));
}

// After an error in a statement: skips the rest of it, with the clauses that would have belonged to it.
void StatementParser::recover() {
  skipLine();
  auto isClause = [&] {
    return isAt(TokenKind::Elif) || isAt(TokenKind::Else) || isAt(TokenKind::Except) || isAt(TokenKind::Finally);
  };
  while (isClause())
    skipLine();
}

std::optional<Block> StatementParser::parseBlock(SourceRange header, llvm::StringRef name, llvm::StringRef colonAfter) {
  if (!expect(TokenKind::Colon, colonAfter))
    return std::nullopt;
  if (isAt(TokenKind::Newline)) {
    take();
    return parseIndentedBlock(header, name);
  }
  Statements statements;
  if (!parseSimpleLine(statements))
    return std::nullopt;
  return context.copy<const Stmt *>(statements);
}

// Reports a missing block and continues with an empty one.
Block StatementParser::parseIndentedBlock(SourceRange header, llvm::StringRef name) {
  if (!isAt(TokenKind::Indent)) {
    if (auto *diagnostic = report(diag::ExpectedBlock, peek().range, name, describeHere()))
      diagnostic->note("the block belongs here", fileRange(header));
    return {};
  }
  if (blockDepth >= maxBlockDepth) {
    report(diag::BlockTooDeep, header, maxBlockDepth);
    skipIndentedBlock();
    return {};
  }
  llvm::SaveAndRestore<unsigned> deeper(blockDepth, blockDepth + 1);
  take();
  Statements statements;
  parseStatements(statements);
  accept(TokenKind::Dedent);
  return context.copy<const Stmt *>(statements);
}

const Module *StatementParser::parseModule() {
  Statements statements;
  parseStatements(statements);
  auto *module = context.create<Module>();
  module->file = &file;
  module->body = context.copy<const Stmt *>(statements);
  return module;
}

const FunctionDef *StatementParser::parseFunction() {
  Statements statements;
  bool isFunction =
      isAt(TokenKind::At) || isAt(TokenKind::Def) || (isAt(TokenKind::Async) && peek(1).kind == TokenKind::Def);
  if (!isFunction) {
    report(diag::ExpectedFunction, peek().range, describeHere());
    return nullptr;
  }
  if (!parseStatement(statements)) {
    recover();
    return nullptr;
  }
  const auto *function = llvm::dyn_cast<FunctionDef>(statements.front());
  if (!function)
    report(diag::ExpectedFunction, {statements.front()->range.begin, statements.front()->range.begin + 5}, "`class`");
  else if (!isAt(TokenKind::EndOfText))
    report(diag::TextAfterFunction, peek().range, describeHere());
  return function;
}

// Runs one parse. The lexer reports first, for the whole text; sorting restores the source order of the reports.
template <typename Parse>
static auto parseWith(const support::SourceFile &file, AstContext &context, support::DiagnosticEngine &diagnostics,
                      FirstIndent firstIndent, Parse parse) -> decltype(parse(std::declval<StatementParser &>())) {
  size_t first = diagnostics.size();
  size_t errorsBefore = diagnostics.errorCount();
  StatementParser parser(file, context, diagnostics, firstIndent);
  auto *result = parse(parser);
  diagnostics.sortByPosition(first);
  return diagnostics.errorCount() == errorsBefore ? result : nullptr;
}

const Module *parseModule(const support::SourceFile &file, AstContext &context,
                          support::DiagnosticEngine &diagnostics) {
  return parseWith(file, context, diagnostics, FirstIndent::IsError,
                   [](StatementParser &parser) { return parser.parseModule(); });
}

const FunctionDef *parseFunction(const support::SourceFile &file, AstContext &context,
                                 support::DiagnosticEngine &diagnostics) {
  return parseWith(file, context, diagnostics, FirstIndent::IsCommon,
                   [](StatementParser &parser) { return parser.parseFunction(); });
}

} // namespace nereid::syntax
