// Scans names, strings and f-strings. An f-string becomes a start token, text tokens, the tokens of its fields and an
// end token.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Characters.h"
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/LexerImpl.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

namespace nereid::syntax {

static TokenKind nameKind(llvm::StringRef word) {
  return llvm::StringSwitch<TokenKind>(word)
#define KEYWORD(name, text) .Case(text, TokenKind::name)
#include "compiler/syntax/Tokens.def"
      .Default(TokenKind::Name);
}

static bool isStringPrefix(llvm::StringRef word) {
  return llvm::StringSwitch<bool>(word.lower())
      .Cases({"", "r", "u", "b", "f", "br", "rb", "fr", "rf"}, true)
      .Default(false);
}

static llvm::StringRef quoteAt(llvm::StringRef text) {
  if (text.empty() || (text.front() != '"' && text.front() != '\''))
    return {};
  for (llvm::StringRef quote : {"\"\"\"", "'''", "\"", "'"})
    if (text.starts_with(quote))
      return text.take_front(quote.size());
  return {};
}

bool Lexer::lexNameOrString() {
  size_t length = nameLength(rest());
  llvm::StringRef word = rest().take_front(length);
  llvm::StringRef quote = quoteAt(rest().substr(length));
  // In `f'{a'` the quote after the name was meant to end the f-string.
  bool endsFString = inFStringField() && scopes.back().quote == quote && !isStringPrefix(word);
  if (quote.empty() || endsFString || (nameKind(word) != TokenKind::Name && length != 0)) {
    if (length != 0)
      lexName(length);
    return length != 0;
  }
  auto begin = static_cast<uint32_t>(at);
  at += length + quote.size();
  if (!isStringPrefix(word)) {
    report(diag::InvalidStringPrefix, {begin, begin + static_cast<uint32_t>(length)}, word);
    emit(TokenKind::Error, begin, static_cast<uint32_t>(at));
  }
  bool isRaw = word.contains_insensitive('r');
  if (word.contains_insensitive('f') && isStringPrefix(word))
    startFString(begin, quote, isRaw);
  else
    lexString(begin, quote);
  return true;
}

void Lexer::lexName(size_t length) {
  llvm::StringRef name = rest().take_front(length);
  TokenKind kind = nameKind(name);
  for (size_t i = 0; i < length;) {
    Character character = firstCharacter(name.substr(i));
    if (isNotNormalized(character.codepoint)) {
      auto begin = static_cast<uint32_t>(at + i);
      report(diag::NameNotNormalized, {begin, begin + character.byteCount}, name,
             llvm::utohexstr(character.codepoint, false, 4));
      kind = TokenKind::Error;
      break;
    }
    i += character.byteCount;
  }
  take(kind, length);
}

// `at` is after the opening quote.
void Lexer::lexString(uint32_t begin, llvm::StringRef quote) {
  bool isTriple = quote.size() == 3;
  while (!atEnd()) {
    if (rest().starts_with(quote)) {
      at += quote.size();
      return emit(TokenKind::String, begin, static_cast<uint32_t>(at));
    }
    if (isLineBreakAt(at) && !isTriple)
      break;
    // A backslash escapes a quote or a line break even in a raw string, which keeps its backslashes.
    bool isEscape = peek() == '\\' && at + 1 < text.size();
    if (isEscape && isLineBreakAt(at + 1)) {
      ++at;
      skipLineBreak();
    } else {
      at += isEscape ? 2 : 1;
    }
  }
  // Inside a field, the quote that ends the f-string looks like the start of a string.
  if (inFStringField() && scopes.back().quote == quote && !isTriple) {
    uint32_t field = scopes.back().begin;
    report(diag::UnclosedFStringField, {field, field + 1});
  } else {
    reportUnterminated(begin, quote, atEnd() ? "text" : "line");
  }
  emit(TokenKind::Error, begin, static_cast<uint32_t>(at));
  bool isInsideLine = llvm::any_of(
      scopes, [](const Scope &scope) { return scope.kind == ScopeKind::FStringText && scope.quote.size() == 1; });
  if (isInsideLine)
    discardFString();
}

void Lexer::startFString(uint32_t begin, llvm::StringRef quote, bool isRaw) {
  emit(TokenKind::FStringStart, begin, static_cast<uint32_t>(at));
  scopes.push_back({ScopeKind::FStringText, '\0', begin, quote, isRaw});
}

// The length in bytes of the next part of the text; 0 at its end.
size_t Lexer::fStringTextStep(const Scope &scope) {
  bool isSpec = scope.kind == ScopeKind::FStringSpec;
  if (rest().starts_with(scope.quote))
    return 0;
  if (isLineBreakAt(at) && scope.quote.size() == 1)
    return 0;
  if (peek() == '{')
    return peek(1) == '{' && !isSpec ? 2 : 0;
  if (peek() == '}') {
    if (isSpec)
      return 0;
    if (peek(1) == '}')
      return 2;
    auto here = static_cast<uint32_t>(at);
    report(diag::StrayFStringBrace, {here, here + 1});
    emit(TokenKind::Error, here, here + 1);
    return 1;
  }
  if (peek() != '\\' || at + 1 >= text.size())
    return 1;
  if (!scope.isRaw && rest().starts_with("\\N{")) {
    size_t close = rest().find_first_of("}\r\n");
    return close == llvm::StringRef::npos ? rest().size() : rest()[close] == '}' ? close + 1 : close;
  }
  // A backslash escapes quotes and line breaks, not braces.
  if (peek(1) == '{' || peek(1) == '}')
    return 1;
  return rest().substr(1).starts_with("\r\n") ? 3 : 2;
}

// Scans text up to a field, the end of the f-string or an error, and the token after it.
void Lexer::lexFStringText() {
  Scope scope = scopes.back();
  auto begin = static_cast<uint32_t>(at);
  while (!atEnd()) {
    size_t step = fStringTextStep(scope);
    if (step == 0)
      break;
    at += step;
  }
  auto end = static_cast<uint32_t>(at);
  if (end > begin)
    emit(TokenKind::FStringMiddle, begin, end);
  bool isSpec = scope.kind == ScopeKind::FStringSpec;
  if (peek() == '{') {
    scopes.push_back({ScopeKind::FStringField, '{', end, scope.quote, scope.isRaw});
    return take(TokenKind::LeftBrace, 1);
  }
  if (peek() == '}' && isSpec) {
    scopes.pop_back_n(2); // the spec and its field
    return take(TokenKind::RightBrace, 1);
  }
  if (!atEnd() && rest().starts_with(scope.quote) && !isSpec) {
    scopes.pop_back();
    return take(TokenKind::FStringEnd, scope.quote.size());
  }
  if (isSpec)
    report(diag::UnclosedFStringField, {scope.begin, scope.begin + 1});
  else
    reportUnterminated(scope.begin, scope.quote, atEnd() ? "text" : "line");
  emit(TokenKind::Error, begin, end);
  if (isSpec && rest().starts_with(scope.quote))
    at += scope.quote.size();
  discardFString();
}

void Lexer::reportUnterminated(uint32_t begin, llvm::StringRef quote, llvm::StringRef endOf) {
  uint32_t lineEnd = file.lineAround(begin).end;
  report(diag::UnterminatedString, {begin, std::max(begin + 1, std::min(lineEnd, static_cast<uint32_t>(at)))},
         ("`" + quote + "`").str(), endOf);
}

// Leaves the outermost f-string with all its open fields and brackets.
void Lexer::discardFString() {
  const Scope *outermost = llvm::find_if(scopes, [](const Scope &scope) { return scope.kind != ScopeKind::Bracket; });
  scopes.truncate(static_cast<size_t>(outermost - scopes.begin()));
}

} // namespace nereid::syntax
