// Parses functions, classes and their decorators.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/StatementParser.h"

#include "llvm/Support/SaveAndRestore.h"

namespace nereid::syntax {

const Stmt *StatementParser::parseDecorated() {
  Items decorators;
  while (accept(TokenKind::At)) {
    decorators.push_back(parseNamedExpression());
    if (!decorators.back())
      return nullptr;
    if (!isAt(TokenKind::Newline))
      return reportStatementEnd(), nullptr;
    take();
  }
  uint32_t begin = here();
  if (isAt(TokenKind::Class))
    return parseClass(decorators);
  bool isAsync = isAt(TokenKind::Async) && peek(1).kind == TokenKind::Def;
  if (isAsync)
    take();
  if (isAt(TokenKind::Def))
    return parseFunctionDef(begin, isAsync, decorators);
  report(diag::ExpectedToken, peek().range, "`def` or `class`", "after a decorator", describeHere(), "");
  return nullptr;
}

// `[T, *Ts]`: only the range is kept.
bool StatementParser::parseTypeParameters(SourceRange &range) {
  if (!isAt(TokenKind::LeftSquare))
    return true;
  uint32_t begin = here();
  unsigned open = 0;
  do {
    if (isAt(TokenKind::Newline) || isAt(TokenKind::EndOfText) || isAt(TokenKind::Error))
      return expect(TokenKind::RightSquare, "after the type parameters");
    open += isAt(TokenKind::LeftSquare) || isAt(TokenKind::LeftParen) || isAt(TokenKind::LeftBrace);
    open -= isAt(TokenKind::RightSquare) || isAt(TokenKind::RightParen) || isAt(TokenKind::RightBrace);
    take();
  } while (open != 0);
  range = rangeFrom(begin);
  return true;
}

const FunctionDef *StatementParser::parseFunctionDef(uint32_t begin, bool isAsync, Items &decorators) {
  SourceRange header = take().range;
  Identifier name;
  SourceRange typeParameters;
  llvm::SmallVector<Parameter, 8> parameters;
  if (!expectName("after `def`", name) || !parseTypeParameters(typeParameters) ||
      !expect(TokenKind::LeftParen, "after the name of the function") ||
      !parseParameters(TokenKind::RightParen, parameters) || !expect(TokenKind::RightParen, "to close the parameters"))
    return nullptr;
  const Expr *returns = nullptr;
  if (accept(TokenKind::Arrow) && !(returns = parseExpression()))
    return nullptr;
  std::optional<Block> body;
  {
    llvm::SaveAndRestore<unsigned> insideFunction(functionDepth, functionDepth + 1);
    llvm::SaveAndRestore<unsigned> outsideLoops(loopDepth, 0);
    body = parseBlock(header, "`def`", "after the head of the function");
  }
  if (!body)
    return nullptr;
  return create<FunctionDef>(begin, name.name, name.range, decorators, parameters, returns, *body, typeParameters,
                             isAsync);
}

const Stmt *StatementParser::parseClass(Items &decorators) {
  SourceRange header = take().range;
  Identifier name;
  SourceRange typeParameters;
  Arguments arguments;
  if (!expectName("after `class`", name) || !parseTypeParameters(typeParameters))
    return nullptr;
  if (isAt(TokenKind::LeftParen) && !parseArguments(arguments))
    return nullptr;
  std::optional<Block> body;
  {
    llvm::SaveAndRestore<unsigned> outsideFunctions(functionDepth, 0);
    llvm::SaveAndRestore<unsigned> outsideLoops(loopDepth, 0);
    body = parseBlock(header, "`class`", "after the head of the class");
  }
  if (!body)
    return nullptr;
  return create<ClassDef>(header.begin, name.name, name.range, decorators, arguments.args, arguments.keywords, *body,
                          typeParameters);
}

} // namespace nereid::syntax
