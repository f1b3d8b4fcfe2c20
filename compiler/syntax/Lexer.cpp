// Scans lines, indentation, brackets and operators.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Lexer.h"

#include "compiler/syntax/Characters.h"
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/LexerImpl.h"
#include "compiler/syntax/Numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid::syntax {

static char closerOf(char opener) { return opener == '(' ? ')' : opener == '[' ? ']' : '}'; }
static char openerOf(char closer) { return closer == ')' ? '(' : closer == ']' ? '[' : '{'; }

Lexer::Lexer(const support::SourceFile &file, support::DiagnosticEngine &diagnostics, FirstIndent firstIndent)
    : file(file), diagnostics(diagnostics), firstIndent(firstIndent), text(file.text()),
      errorsBefore(diagnostics.errorCount()) {
  indentations.push_back({});
}

std::vector<Token> Lexer::run() {
  if (!checkEncoding()) {
    emit(TokenKind::Error, 0, 0);
    at = text.size();
  } else if (text.starts_with("\xEF\xBB\xBF")) {
    at = 3;
  }
  while (!atEnd()) {
    if (diagnostics.errorCount() - errorsBefore >= maxSyntaxErrors)
      break;
    if (atLineStart && scopes.empty())
      lexIndentation();
    else
      lexOne();
  }
  finish();
  if (diagnostics.errorCount() - errorsBefore >= maxSyntaxErrors)
    report(diag::TooManyErrors, {static_cast<uint32_t>(at), static_cast<uint32_t>(at)}, maxSyntaxErrors);
  return std::move(tokens);
}

// After this every byte is part of a valid character.
bool Lexer::checkEncoding() {
  if (file.isTruncated())
    report(diag::TextTooLong, {0, 0}, support::SourceFile::maxBytes);
  for (size_t i = 0; i < text.size() && !file.isTruncated();) {
    Character next = firstCharacter(text.substr(i));
    auto begin = static_cast<uint32_t>(i);
    if (next.byteCount == 0) {
      report(diag::InvalidUtf8, {begin, begin + 1}, llvm::utohexstr(next.codepoint, false, 2));
      return false;
    }
    if (next.codepoint == 0) {
      report(diag::NulByte, {begin, begin + 1});
      return false;
    }
    i += next.byteCount;
  }
  return !file.isTruncated();
}

Lexer::Indentation Lexer::measureIndentation() {
  Indentation result;
  for (; !atEnd(); ++at) {
    if (peek() == ' ') {
      ++result.columns;
      ++result.columnsWithNarrowTabs;
    } else if (peek() == '\t') {
      result.columns = (result.columns / 8 + 1) * 8;
      ++result.columnsWithNarrowTabs;
    } else if (peek() == '\f') {
      result = {};
    } else {
      break;
    }
  }
  return result;
}

// Skips blank lines and comment lines, then emits the tokens of the next line's indentation.
void Lexer::lexIndentation() {
  while (!atEnd()) {
    Indentation indentation = measureIndentation();
    if (peek() == '#')
      at = std::min(text.find_first_of("\r\n", at), text.size());
    if (isLineBreakAt(at)) {
      skipLineBreak();
      continue;
    }
    if (!atEnd())
      applyIndentation(indentation);
    break;
  }
  atLineStart = false;
}

// Ends the blocks that are deeper than `now`. Where no block has that depth, the line counts as part of the nearest
// deeper one.
bool Lexer::closeBlocks(Indentation now) {
  auto here = static_cast<uint32_t>(at);
  while (now.columns < indentations.back().columns) {
    bool isBetween = indentations.size() == 1 || indentations[indentations.size() - 2].columns < now.columns;
    if (isBetween) {
      std::string levels = llvm::join(
          llvm::map_range(indentations, [](const Indentation &level) { return std::to_string(level.columns); }), ", ");
      indentations.back() = now;
      report(diag::UnmatchedDedent, {file.lineAround(here).begin, here}, now.columns, levels);
      return false;
    }
    indentations.pop_back();
    emit(TokenKind::Dedent, here, here);
  }
  return true;
}

void Lexer::applyIndentation(Indentation now) {
  auto here = static_cast<uint32_t>(at);
  auto lineBegin = static_cast<uint32_t>(file.lineAround(here).begin);
  if (tokens.empty() && firstIndent == FirstIndent::IsCommon)
    indentations.back() = now;
  Indentation open = indentations.back();
  bool isDeeper = now.columns > open.columns;
  if (isDeeper) {
    indentations.push_back(now);
    emit(TokenKind::Indent, lineBegin, here);
  }
  if (!closeBlocks(now))
    return;
  bool isAmbiguous = isDeeper ? now.columnsWithNarrowTabs <= open.columnsWithNarrowTabs
                              : now.columnsWithNarrowTabs != indentations.back().columnsWithNarrowTabs;
  if (isAmbiguous) {
    report(diag::InconsistentTabs, {lineBegin, here});
    emit(TokenKind::Error, here, here);
    indentations.back() = now; // one report for a block
  }
}

void Lexer::finish() {
  if (!atEnd()) // stopped after too many errors
    scopes.clear();
  auto end = static_cast<uint32_t>(text.size());
  if (inFStringText())
    lexFStringText();
  if (!scopes.empty())
    discardScopes();
  bool isLineOpen = !tokens.empty() && tokens.back().kind != TokenKind::Newline &&
                    tokens.back().kind != TokenKind::Dedent && tokens.back().kind != TokenKind::Indent;
  if (isLineOpen)
    emit(TokenKind::Newline, end, end);
  for (size_t i = 1; i < indentations.size(); ++i)
    emit(TokenKind::Dedent, end, end);
  emit(TokenKind::EndOfText, end, end);
}

// Skips blanks and a comment. True if it moved.
bool Lexer::skipBlanks() {
  size_t begin = at;
  while (peek() == ' ' || peek() == '\t' || peek() == '\f')
    ++at;
  if (peek() == '#')
    at = std::min(text.find_first_of("\r\n", at), text.size());
  return at != begin;
}

void Lexer::lexOne() {
  if (inFStringText())
    return lexFStringText();
  if (skipBlanks())
    return;
  char c = peek();
  if (isLineBreakAt(at))
    return lexLineBreak();
  if (c == '\\')
    return lexBackslash();
  if (atFreshLine) {
    atFreshLine = false;
    if (recoverAtKeyword())
      return;
  }
  if (lexNameOrString())
    return;
  if (llvm::isDigit(c) || (c == '.' && llvm::isDigit(peek(1))))
    return lexNumber();
  lexPunctuation();
}

void Lexer::lexLineBreak() {
  if (!scopes.empty()) {
    atFreshLine = true;
    return skipLineBreak();
  }
  auto begin = static_cast<uint32_t>(at);
  skipLineBreak();
  atLineStart = true;
  if (!tokens.empty() && tokens.back().kind != TokenKind::Newline)
    emit(TokenKind::Newline, begin, static_cast<uint32_t>(at));
}

void Lexer::lexBackslash() {
  auto begin = static_cast<uint32_t>(at++);
  if (isLineBreakAt(at)) {
    skipLineBreak();
    if (!atEnd())
      return;
  }
  report(diag::StrayBackslash, {begin, begin + 1},
         atEnd() ? std::string("the end of the text")
                 : ("`" + rest().take_front(firstCharacter(rest()).byteCount) + "`").str());
  emit(TokenKind::Error, begin, begin + 1);
}

void Lexer::lexNumber() {
  auto begin = static_cast<uint32_t>(at);
  NumberScan scan = scanNumber(rest());
  SourceRange range{begin, begin + static_cast<uint32_t>(scan.length)};
  llvm::StringRef spelling = file.text(range);
  if (!scan.problem.empty()) {
    report(diag::InvalidNumber, range, spelling.size() > 40 ? (spelling.take_front(40) + "...").str() : spelling.str(),
           scan.problem);
    scan.kind = TokenKind::Error;
  } else if (scan.kind == TokenKind::Int && spelling.size() > maxIntDigits) {
    if (size_t digits = readInt(spelling).digits.size(); digits > maxIntDigits) {
      report(diag::NumberTooLong, range, digits, maxIntDigits);
      scan.kind = TokenKind::Error;
    }
  }
  take(scan.kind, scan.length);
}

void Lexer::lexPunctuation() {
  // At the top level of an f-string's field these end the expression: `f"{x!r:>8}"`.
  if (inFStringField() && peek() == ':') {
    Scope spec = scopes.back();
    spec.kind = ScopeKind::FStringSpec;
    scopes.push_back(spec);
    return take(TokenKind::Colon, 1);
  }
  if (inFStringField() && peek() == '!' && peek(1) != '=')
    return take(TokenKind::Exclamation, 1);

  static constexpr struct {
    llvm::StringLiteral text;
    TokenKind kind;
  } punctuation[] = {
#define PUNCTUATION(name, text) {text, TokenKind::name},
#include "compiler/syntax/Tokens.def"
  };
  char c = peek();
  for (const auto &candidate : punctuation) {
    if (candidate.text.data()[0] != c || !rest().starts_with(candidate.text))
      continue;
    if (c == '(' || c == '[' || c == '{')
      return openBracket(c);
    if (c == ')' || c == ']' || c == '}')
      return closeBracket(c);
    return take(candidate.kind, candidate.text.size());
  }
  lexInvalidCharacter();
}

static llvm::StringRef hintFor(uint32_t codepoint) {
  switch (codepoint) {
  case '!':
    return "; write `not`, or `!=` for \"differs\"";
  case '?':
    return "; a choice is written `a if condition else b`";
  case '$':
  case '`':
    return "; remove it";
  case 0x2018: // typographic quotes
  case 0x2019:
    return "; write the plain quote `'`";
  case 0x201C:
  case 0x201D:
    return "; write the plain quote `\"`";
  case 0x2013: // dashes and the mathematical minus
  case 0x2014:
  case 0x2212:
    return "; write the plain `-`";
  case 0x00D7:
    return "; write `*`";
  case 0x00F7:
    return "; write `/`";
  case 0x2264:
    return "; write `<=`";
  case 0x2265:
    return "; write `>=`";
  case 0x2260:
    return "; write `!=`";
  case 0x00A0: // blanks that are not spaces
  case 0x200B:
  case 0x3000:
  case 0xFEFF:
    return "; write a plain space";
  case 0xFF08: // full-width forms
  case 0xFF09:
  case 0xFF0C:
  case 0xFF1A:
    return "; write the plain form of it";
  }
  return "";
}

void Lexer::lexInvalidCharacter() {
  Character character = firstCharacter(rest());
  auto begin = static_cast<uint32_t>(at);
  report(diag::InvalidCharacter, {begin, begin + character.byteCount}, rest().take_front(character.byteCount),
         llvm::utohexstr(character.codepoint, false, 4), hintFor(character.codepoint));
  take(TokenKind::Error, character.byteCount);
}

void Lexer::openBracket(char opener) {
  scopes.push_back({ScopeKind::Bracket, opener, static_cast<uint32_t>(at), {}});
  take(opener == '(' ? TokenKind::LeftParen : opener == '[' ? TokenKind::LeftSquare : TokenKind::LeftBrace, 1);
}

// Errors keep the outermost brackets balanced, so that the statement ends where the user expects.
void Lexer::closeBracket(char closer) {
  TokenKind kind = closer == ')'   ? TokenKind::RightParen
                   : closer == ']' ? TokenKind::RightSquare
                                   : TokenKind::RightBrace;
  SourceRange range{static_cast<uint32_t>(at), static_cast<uint32_t>(at) + 1};
  if (!scopes.empty() && closerOf(scopes.back().opener) == closer) {
    scopes.pop_back();
    return take(kind, 1);
  }
  llvm::StringRef spelling = file.text(range);
  if (scopes.empty()) {
    report(diag::UnmatchedBracket, range, spelling, std::string(1, openerOf(closer)));
    return take(TokenKind::Error, 1);
  }
  Scope open = scopes.back();
  std::string opener(1, open.opener);
  report(diag::MismatchedBracket, range, spelling, opener, std::string(1, closerOf(open.opener)))
      .note("`" + opener + "` opened here", {&file, {open.begin, open.begin + 1}});
  // Closes up to the matching opener, but leaves an f-string only together with its field.
  size_t depth = scopes.size();
  while (depth > 0 && scopes[depth - 1].opener != openerOf(closer) && scopes[depth - 1].kind == ScopeKind::Bracket)
    --depth;
  if (depth > 0 && scopes[depth - 1].opener == openerOf(closer))
    scopes.truncate(depth - 1);
  take(TokenKind::Error, 1);
}

// A line inside brackets that starts with a statement's keyword: the brackets were never closed.
bool Lexer::recoverAtKeyword() {
  llvm::StringRef word = rest().take_front(nameLength(rest()));
  bool startsStatement = llvm::StringSwitch<bool>(word)
                             .Cases({"assert", "break", "class", "continue", "def", "del", "elif"}, true)
                             .Cases({"except", "finally", "global", "import", "nonlocal", "pass", "raise"}, true)
                             .Cases({"return", "try", "while", "with"}, true)
                             .Default(false);
  if (!startsStatement)
    return false;
  at = file.lineAround(static_cast<uint32_t>(at)).begin;
  discardScopes();
  auto here = static_cast<uint32_t>(at);
  emit(TokenKind::Newline, here, here);
  atLineStart = true;
  return true;
}

void Lexer::discardScopes() {
  Scope open = scopes.back();
  SourceRange range{open.begin, open.begin + 1};
  if (!open.hasError && open.kind == ScopeKind::Bracket)
    report(diag::UnclosedBracket, range, std::string(1, open.opener), std::string(1, closerOf(open.opener)));
  else if (!open.hasError)
    report(diag::UnclosedFStringField, range);
  scopes.clear();
  emit(TokenKind::Error, static_cast<uint32_t>(at), static_cast<uint32_t>(at));
}

std::vector<Token> lex(const support::SourceFile &file, support::DiagnosticEngine &diagnostics,
                       FirstIndent firstIndent) {
  return Lexer(file, diagnostics, firstIndent).run();
}

} // namespace nereid::syntax
