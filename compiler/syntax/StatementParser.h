// Parses statements, blocks and whole texts.
// SPDX-License-Identifier: MIT
//
// StatementParser.cpp has blocks and recovery, ParseSimple.cpp the one-line statements, ParseCompound.cpp those with
// blocks, ParseDefinitions.cpp functions and classes. After an error in a statement the rest of its line is skipped;
// its block is still parsed, so that errors in it are found.
#pragma once

#include "compiler/syntax/ExpressionParser.h"

#include <optional>

namespace nereid::syntax {

class StatementParser : public ExpressionParser {
public:
  using ExpressionParser::ExpressionParser;

  const Module *parseModule();
  const FunctionDef *parseFunction();

private:
  using Statements = llvm::SmallVector<const Stmt *, 8>;

  // Blocks
  void parseStatements(Statements &statements);
  bool parseStatement(Statements &statements);
  bool parseSimpleLine(Statements &statements);
  // `:` and its block. Empty (reported) only where the `:` is missing.
  std::optional<Block> parseBlock(SourceRange header, llvm::StringRef name, llvm::StringRef colonAfter);
  Block parseIndentedBlock(SourceRange header, llvm::StringRef name);
  void recover();
  void skipLine();
  void skipIndentedBlock();
  void skipTokensOfBlock();
  bool reportStatementEnd();

  // ParseSimple.cpp
  const Stmt *parseSimpleStatement();
  const Stmt *parseExpressionStatement();
  const Stmt *parseAssign(uint32_t begin, const Expr *first);
  const Stmt *parseAugAssign(uint32_t begin, const Expr *target, BinaryOperator op);
  const Stmt *parseAnnAssign(uint32_t begin, const Expr *target);
  const Stmt *parseReturn();
  const Stmt *parseDelete();
  const Stmt *parseRaise();
  const Stmt *parseAssert();
  const Stmt *parseImport();
  const Stmt *parseImportFrom();
  bool parseImportedNames(llvm::SmallVectorImpl<Alias> &names);
  bool parseAlias(bool isDotted, Alias &alias);
  bool parseDottedName(llvm::StringRef where, llvm::StringRef &name);
  bool parseAsName(llvm::StringRef &name);
  template <typename T> const Stmt *parseNameList();
  template <typename T> const Stmt *parseBare();
  template <typename T> const Stmt *parseLoopExit();
  bool isAtTypeAlias() const;
  const Stmt *parseTypeAlias();

  // ParseCompound.cpp
  const Stmt *parseIf();
  const Stmt *parseWhile();
  const Stmt *parseFor(uint32_t begin, bool isAsync);
  const Stmt *parseWith(uint32_t begin, bool isAsync);
  bool isParenthesizedWith() const;
  bool parseWithItems(llvm::SmallVectorImpl<WithItem> &items);
  bool parseWithItem(llvm::SmallVectorImpl<WithItem> &items);
  const Stmt *parseTry();
  bool parseHandlers(Try &node, llvm::SmallVectorImpl<ExceptHandler> &handlers);
  bool parseHandlerHead(ExceptHandler &handler, bool isStar);
  const Stmt *parseAsync();
  bool isAtMatch() const;
  const Stmt *parseMatch();
  std::optional<Block> parseElse();
  std::optional<Block> parseLoopBody(SourceRange header, llvm::StringRef name, llvm::StringRef colonAfter);

  // ParseDefinitions.cpp
  const Stmt *parseDecorated();
  const FunctionDef *parseFunctionDef(uint32_t begin, bool isAsync, Items &decorators);
  const Stmt *parseClass(Items &decorators);
  bool parseTypeParameters(SourceRange &range);

  unsigned blockDepth = 0;
  // The context that `break` and `return` need.
  unsigned loopDepth = 0;
  unsigned functionDepth = 0;
};

} // namespace nereid::syntax
