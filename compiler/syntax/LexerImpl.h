// The state of the lexer; Lexer.cpp has lines and operators, LexStrings.cpp the strings.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/syntax/Lexer.h"

#include "llvm/ADT/SmallVector.h"

namespace nereid::syntax {

class Lexer {
public:
  Lexer(const support::SourceFile &file, support::DiagnosticEngine &diagnostics, FirstIndent firstIndent);
  std::vector<Token> run();

private:
  // The nesting around the current text. An f-string `f"a{x:{w}}"` nests Text > Field > Spec > Field.
  enum class ScopeKind : uint8_t { Bracket, FStringText, FStringField, FStringSpec };
  struct Scope {
    ScopeKind kind;
    char opener;           // of a Bracket or FStringField
    uint32_t begin;        // of the bracket, or of the f-string
    llvm::StringRef quote; // of the enclosing f-string
    bool isRaw = false;    // of the enclosing f-string
    bool hasError = false; // an error inside was already reported
  };

  // Columns of one level of indentation, with tabs 8 wide and 1 wide.
  struct Indentation {
    uint32_t columns = 0;
    uint32_t columnsWithNarrowTabs = 0;
  };

  // Lexer.cpp
  bool checkEncoding();
  void lexIndentation();
  Indentation measureIndentation();
  void applyIndentation(Indentation indentation);
  bool closeBlocks(Indentation now);
  void finish();
  void lexOne();
  bool skipBlanks();
  void lexLineBreak();
  void lexBackslash();
  void lexNumber();
  void lexPunctuation();
  void lexInvalidCharacter();
  void openBracket(char opener);
  void closeBracket(char closer);
  bool recoverAtKeyword();
  void discardScopes();

  // LexStrings.cpp
  bool lexNameOrString();
  void lexName(size_t length);
  void lexString(uint32_t begin, llvm::StringRef quote);
  void startFString(uint32_t begin, llvm::StringRef quote, bool isRaw);
  void lexFStringText();
  size_t fStringTextStep(const Scope &scope);
  void reportUnterminated(uint32_t begin, llvm::StringRef quote, llvm::StringRef endOf);
  void discardFString();

  llvm::StringRef rest() const { return text.substr(at); }
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool atEnd() const { return at >= text.size(); }
  bool isLineBreakAt(size_t offset) const {
    return offset < text.size() && (text[offset] == '\n' || text[offset] == '\r');
  }
  void skipLineBreak() { at += rest().starts_with("\r\n") ? 2 : 1; }
  bool inFStringText() const {
    return !scopes.empty() &&
           (scopes.back().kind == ScopeKind::FStringText || scopes.back().kind == ScopeKind::FStringSpec);
  }
  bool inFStringField() const { return !scopes.empty() && scopes.back().kind == ScopeKind::FStringField; }

  void emit(TokenKind kind, uint32_t begin, uint32_t end) { tokens.push_back({kind, {begin, end}}); }
  // Emits `length` bytes as one token.
  void take(TokenKind kind, size_t length) {
    auto begin = static_cast<uint32_t>(at);
    at += length;
    emit(kind, begin, static_cast<uint32_t>(at));
  }
  template <typename... Args>
  support::Diagnostic &report(const support::DiagnosticKind &kind, SourceRange range, Args &&...args) {
    for (Scope &scope : scopes)
      scope.hasError = true;
    return diagnostics.report(kind, {&file, range}, std::forward<Args>(args)...);
  }

  const support::SourceFile &file;
  support::DiagnosticEngine &diagnostics;
  FirstIndent firstIndent;
  llvm::StringRef text;
  size_t at = 0;
  size_t errorsBefore;
  bool atLineStart = true;  // of a logical line
  bool atFreshLine = false; // first token of a line inside brackets
  llvm::SmallVector<Scope, 8> scopes;
  llvm::SmallVector<Indentation, 8> indentations;
  std::vector<Token> tokens;
};

} // namespace nereid::syntax
