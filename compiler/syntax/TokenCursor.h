// The parser's position in the token list, and its error reports.
// SPDX-License-Identifier: MIT
//
// A function that fails has reported the error and returns null or false; its callers return too, up to the statement,
// so that there is at most one report per statement. The lexer has reported a statement with an Error token, and the
// parser leaves it silently.
#pragma once

#include "compiler/syntax/Ast.h"
#include "compiler/syntax/Lexer.h"

namespace nereid::syntax {

class TokenCursor {
public:
  TokenCursor(const support::SourceFile &file, AstContext &context, support::DiagnosticEngine &diagnostics,
              FirstIndent firstIndent);

protected:
  const Token &peek(size_t ahead = 0) const { return tokens[std::min(at + ahead, tokens.size() - 1)]; }
  bool isAt(TokenKind kind) const { return peek().kind == kind; }
  bool isAtWord(llvm::StringRef word) const { return isAt(TokenKind::Name) && spelling(peek()) == word; }
  llvm::StringRef spelling(const Token &token) const { return file.text(token.range); }
  uint32_t here() const { return peek().range.begin; }

  const Token &take();
  bool accept(TokenKind kind);
  // Consumes a token of this kind or reports "expected `:` after `if` condition, found ...".
  bool expect(TokenKind kind, llvm::StringRef where);
  bool expectName(llvm::StringRef where, Identifier &name);

  // "`foo`", "number `1`", "end of line"
  std::string describeHere() const;
  std::string hintForFound(TokenKind expected) const;
  void noteOpenBracket(support::Diagnostic *diagnostic) const;

  // Reports an error and returns null, so that callers can return the result. Silent where the lexer has reported this
  // statement.
  template <typename... Args>
  support::Diagnostic *report(const support::DiagnosticKind &kind, SourceRange range, Args &&...args) {
    if (statementHasErrorToken())
      return nullptr;
    return &diagnostics.report(kind, fileRange(range), std::forward<Args>(args)...);
  }
  support::FileRange fileRange(SourceRange range) const { return {&file, range}; }
  // Whether there are too many errors to continue; reports this once.
  bool hasGivenUp();

  // The end of a node: the end of the last consumed token.
  SourceRange rangeFrom(uint32_t begin) const { return {begin, lastEnd}; }
  // A node from `begin` to here with its first fields; a list that the parser collected is copied into the arena.
  template <typename T, typename... Fields> T *create(uint32_t begin, const Fields &...fields) {
    return context.create<T>(rangeFrom(begin), stored(fields)...);
  }
  template <typename T>
    requires std::is_trivially_copyable_v<T>
  T stored(const T &field) {
    return field;
  }
  template <typename T, unsigned N> llvm::ArrayRef<T> stored(const llvm::SmallVector<T, N> &list) {
    return context.copy<T>(list);
  }

  const support::SourceFile &file;
  AstContext &context;
  support::DiagnosticEngine &diagnostics;
  size_t errorsBefore;
  std::vector<Token> tokens;
  size_t at = 0;
  size_t statementBegin = 0; // index of its first token
  uint32_t lastEnd = 0;
  bool hasTooManyErrors = false;

private:
  bool statementHasErrorToken() const;
};

} // namespace nereid::syntax
