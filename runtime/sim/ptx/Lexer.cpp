// Splits PTX into words, numbers, strings and punctuation; comments are dropped.
// SPDX-License-Identifier: MIT
#include "runtime/sim/ptx/Lexer.h"

#include <bit>
#include <cctype>
#include <cstdlib>

using namespace nereid::sim;

namespace {
class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}
  std::vector<Token> run();

private:
  char at(size_t offset) const { return pos + offset < text.size() ? text[pos + offset] : '\0'; }
  void skipSpace();
  Token number();
  Token word();
  Token quoted();

  std::string_view text;
  size_t pos = 0;
  uint32_t line = 1;
};
} // namespace

static bool isWordBegin(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '$' || c == '.';
}
static bool isWordPart(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || c == '.' || c == '%';
}

void Lexer::skipSpace() {
  while (pos < text.size()) {
    if (text[pos] == '\n') {
      ++line;
      ++pos;
    } else if (std::isspace(static_cast<unsigned char>(text[pos]))) {
      ++pos;
    } else if (at(0) == '/' && at(1) == '/') {
      while (pos < text.size() && text[pos] != '\n')
        ++pos;
    } else if (at(0) == '/' && at(1) == '*') {
      while (pos < text.size() && !(at(0) == '*' && at(1) == '/'))
        line += text[pos++] == '\n';
      pos += 2;
    } else {
      return;
    }
  }
}

/// `0f3F800000`, `0d...`, `0x..`, `0b..`, octal and decimal integers, decimal floats.
Token Lexer::number() {
  Token token{TokenKind::Integer, {}, 0, line};
  const size_t begin = pos;
  if (at(0) == '0' && (at(1) == 'f' || at(1) == 'F' || at(1) == 'd' || at(1) == 'D')) {
    token.kind = std::tolower(at(1)) == 'f' ? TokenKind::Float32 : TokenKind::Float64;
    pos += 2;
    const size_t digits = token.kind == TokenKind::Float32 ? 8 : 16;
    token.bits = std::strtoull(std::string(text.substr(pos, digits)).c_str(), nullptr, 16);
    pos += digits;
  } else {
    int base = 10;
    size_t end = pos;
    if (at(0) == '0' && std::tolower(at(1)) == 'x')
      base = 16, pos += 2;
    else if (at(0) == '0' && std::tolower(at(1)) == 'b')
      base = 2, pos += 2;
    for (end = pos; end < text.size() && std::isxdigit(static_cast<unsigned char>(text[end])); ++end)
      ;
    if (base == 10 && end < text.size() && text[end] == '.') {
      char *stop = nullptr;
      const std::string rest(text.substr(pos, 64));
      token.bits = std::bit_cast<uint64_t>(std::strtod(rest.c_str(), &stop));
      token.kind = TokenKind::Float64;
      pos += stop - rest.c_str();
    } else {
      token.bits = std::strtoull(std::string(text.substr(pos, end - pos)).c_str(), nullptr, base);
      pos = end;
    }
    if (std::tolower(at(0)) == 'u')
      ++pos;
  }
  token.text = text.substr(begin, pos - begin);
  return token;
}

Token Lexer::word() {
  const size_t begin = pos++;
  // `shared::cta` is part of a word.
  while (pos < text.size() && (isWordPart(text[pos]) || (at(0) == ':' && at(1) == ':'))) {
    if (text[pos] == ':')
      ++pos;
    ++pos;
  }
  return {TokenKind::Word, text.substr(begin, pos - begin), 0, line};
}

Token Lexer::quoted() {
  const size_t begin = ++pos;
  while (pos < text.size() && text[pos] != '"')
    pos += text[pos] == '\\' ? 2 : 1;
  Token token{TokenKind::String, text.substr(begin, pos - begin), 0, line};
  ++pos;
  return token;
}

std::vector<Token> Lexer::run() {
  std::vector<Token> tokens;
  for (skipSpace(); pos < text.size(); skipSpace()) {
    if (std::isdigit(static_cast<unsigned char>(text[pos])))
      tokens.push_back(number());
    else if (isWordBegin(text[pos]))
      tokens.push_back(word());
    else if (text[pos] == '"')
      tokens.push_back(quoted());
    else
      tokens.push_back({TokenKind::Punctuation, text.substr(pos++, 1), 0, line});
  }
  tokens.push_back({TokenKind::End, {}, 0, line});
  return tokens;
}

std::vector<Token> nereid::sim::tokensOf(std::string_view text) { return Lexer(text).run(); }
