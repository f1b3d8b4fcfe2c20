// Consumes, expects and describes tokens.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/TokenCursor.h"

#include "compiler/syntax/Diagnostics.h"

namespace nereid::syntax {

TokenCursor::TokenCursor(const support::SourceFile &file, AstContext &context, support::DiagnosticEngine &diagnostics,
                         FirstIndent firstIndent)
    : file(file), context(context), diagnostics(diagnostics), errorsBefore(diagnostics.errorCount()),
      tokens(lex(file, diagnostics, firstIndent)) {
  hasTooManyErrors = diagnostics.errorCount() - errorsBefore >= maxSyntaxErrors; // the lexer has reported it
}

bool TokenCursor::hasGivenUp() {
  if (!hasTooManyErrors && diagnostics.errorCount() - errorsBefore >= maxSyntaxErrors) {
    hasTooManyErrors = true;
    diagnostics.report(diag::TooManyErrors, fileRange(peek().range), maxSyntaxErrors);
  }
  return hasTooManyErrors;
}

const Token &TokenCursor::take() {
  const Token &token = peek();
  bool isLayout = token.kind == TokenKind::Newline || token.kind == TokenKind::Indent ||
                  token.kind == TokenKind::Dedent || token.kind == TokenKind::EndOfText;
  if (!isLayout)
    lastEnd = token.range.end;
  if (token.kind != TokenKind::EndOfText)
    ++at;
  if (token.kind == TokenKind::Newline)
    statementBegin = at;
  return token;
}

bool TokenCursor::accept(TokenKind kind) {
  if (!isAt(kind))
    return false;
  take();
  return true;
}

bool TokenCursor::expect(TokenKind kind, llvm::StringRef where) {
  if (accept(kind))
    return true;
  if (isAt(TokenKind::Assign))
    report(diag::AssignInExpression, peek().range, (describe(kind) + " " + where).str());
  else
    noteOpenBracket(
        report(diag::ExpectedToken, peek().range, describe(kind), where, describeHere(), hintForFound(kind)));
  return false;
}

bool TokenCursor::expectName(llvm::StringRef where, Identifier &name) {
  if (!isAt(TokenKind::Name)) {
    report(diag::ExpectedName, peek().range, where, describeHere(),
           isKeyword(peek().kind) ? "; a keyword cannot be a name" : "");
    return false;
  }
  const Token &token = take();
  name = {context.intern(spelling(token)), token.range};
  return true;
}

std::string TokenCursor::describeHere() const {
  const Token &token = peek();
  llvm::StringRef text = spelling(token);
  static constexpr size_t longest = 40;
  bool isShort = text.size() <= longest;
  switch (token.kind) {
  case TokenKind::Name:
    return isShort ? ("`" + text + "`").str() : "a name";
  case TokenKind::Int:
  case TokenKind::Float:
  case TokenKind::Imaginary:
    return isShort ? ("number `" + text + "`").str() : "a number";
  case TokenKind::String:
    return isShort && !text.contains('\n') && !text.contains('\r') ? ("string `" + text + "`").str() : "a string";
  case TokenKind::FStringStart:
    return "an f-string";
  case TokenKind::FStringMiddle:
    return "text of the f-string";
  default:
    return describe(token.kind).str();
  }
}

// A guess at what the user meant with the current token.
std::string TokenCursor::hintForFound(TokenKind expected) const {
  if (expected == TokenKind::Colon && isAt(TokenKind::Newline))
    return "; add the `:`";
  bool isOperandNext = isAt(TokenKind::Name) || isAt(TokenKind::Int) || isAt(TokenKind::Float) ||
                       isAt(TokenKind::String) || isAt(TokenKind::FStringStart);
  bool isInBrackets =
      expected == TokenKind::RightParen || expected == TokenKind::RightSquare || expected == TokenKind::RightBrace;
  if (isAt(TokenKind::ColonAssign))
    return isInBrackets ? "; only a plain name can stand before `:=`"
                        : "; put parentheses around an assignment with `:=`";
  if (isInBrackets && isOperandNext)
    return "; is a comma missing?";
  return "";
}

// Adds a note: an error inside of brackets may be due to their opening on an earlier line.
void TokenCursor::noteOpenBracket(support::Diagnostic *diagnostic) const {
  unsigned closed = 0;
  for (size_t i = at; diagnostic && i-- > statementBegin;) {
    TokenKind kind = tokens[i].kind;
    bool isOpener = kind == TokenKind::LeftParen || kind == TokenKind::LeftSquare || kind == TokenKind::LeftBrace;
    closed += kind == TokenKind::RightParen || kind == TokenKind::RightSquare || kind == TokenKind::RightBrace;
    if (!isOpener || closed-- > 0)
      continue;
    SourceRange opener = tokens[i].range;
    if (file.position(opener.begin).line != file.position(here()).line)
      diagnostic->note(("inside the " + describe(kind) + " opened here").str(), fileRange(opener));
    return;
  }
}

bool TokenCursor::statementHasErrorToken() const {
  for (size_t i = statementBegin; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::Error)
      return true;
    if (tokens[i].kind == TokenKind::Newline && i >= at)
      return false;
  }
  return false;
}

} // namespace nereid::syntax
