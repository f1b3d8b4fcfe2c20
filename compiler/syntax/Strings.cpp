// Resolves the escapes of string and bytes literals.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Strings.h"

#include "compiler/syntax/Characters.h"
#include "compiler/syntax/Diagnostics.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Unicode.h"

namespace nereid::syntax {

using support::SourceRange;

StringForm stringForm(llvm::StringRef token) {
  StringForm form;
  size_t quote = token.find_first_of("'\"");
  llvm::StringRef prefix = token.take_front(quote);
  form.isRaw = prefix.contains_insensitive('r');
  form.isBytes = prefix.contains_insensitive('b');
  llvm::StringRef rest = token.substr(quote);
  form.quoteBytes = rest.starts_with("\"\"\"") || rest.starts_with("'''") ? 3 : 1;
  form.prefixBytes = static_cast<uint32_t>(quote) + form.quoteBytes;
  return form;
}

namespace {
class Decoder {
public:
  Decoder(const support::SourceFile &file, SourceRange contents, StringForm form, BraceRule braces,
          support::DiagnosticEngine &diagnostics, std::string &value)
      : file(file), contents(contents), text(file.text(contents)), form(form), braces(braces), diagnostics(diagnostics),
        value(value) {}

  bool run() {
    while (at < text.size() && ok)
      step();
    return ok;
  }

private:
  void step();
  void lineBreak();
  void escape();
  void octalEscape();
  void hexEscape(size_t digits);
  void namedEscape();
  void put(uint32_t codepoint);

  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  void fail(size_t begin, size_t length, std::string rule) {
    auto first = contents.begin + static_cast<uint32_t>(begin);
    SourceRange range{first, first + static_cast<uint32_t>(length)};
    diagnostics.report(diag::InvalidEscape, {&file, range}, file.text(range), rule);
    ok = false;
  }

  const support::SourceFile &file;
  SourceRange contents;
  llvm::StringRef text;
  StringForm form;
  BraceRule braces;
  support::DiagnosticEngine &diagnostics;
  std::string &value;
  size_t at = 0;
  bool ok = true;
};
} // namespace

void Decoder::step() {
  char c = peek();
  if (c == '\r' || c == '\n')
    return lineBreak();
  if (c == '\\' && !form.isRaw && at + 1 < text.size())
    return escape();
  if (form.isBytes && static_cast<unsigned char>(c) >= 0x80) {
    uint32_t length = std::max(1u, firstCharacter(text.substr(at)).byteCount);
    auto first = contents.begin + static_cast<uint32_t>(at);
    diagnostics.report(diag::BytesNotAscii, {&file, {first, first + length}}, text.substr(at, length));
    ok = false;
    return;
  }
  if (braces == BraceRule::Collapse && (c == '{' || c == '}') && peek(1) == c)
    ++at;
  value += c;
  ++at;
}

// Every form of line break is one "\n" in the value.
void Decoder::lineBreak() {
  at += text.substr(at).starts_with("\r\n") ? 2 : 1;
  value += '\n';
}

void Decoder::put(uint32_t codepoint) {
  if (form.isBytes)
    value += static_cast<char>(codepoint);
  else
    appendUtf8(codepoint, value);
}

static char simpleEscape(char c) {
  switch (c) {
  case '\\':
  case '\'':
  case '"':
    return c;
  case 'a':
    return '\a';
  case 'b':
    return '\b';
  case 'f':
    return '\f';
  case 'n':
    return '\n';
  case 'r':
    return '\r';
  case 't':
    return '\t';
  case 'v':
    return '\v';
  }
  return '\0';
}

// Reads an escape; a character follows the backslash. An unknown escape stands for itself, as in Python.
void Decoder::escape() {
  char c = peek(1);
  if (c == '\r' || c == '\n') {
    ++at;
    at += text.substr(at).starts_with("\r\n") ? 2 : 1;
    return;
  }
  if (char simple = simpleEscape(c)) {
    at += 2;
    value += simple;
  } else if (c >= '0' && c <= '7') {
    octalEscape();
  } else if (c == 'x') {
    hexEscape(2);
  } else if (c == 'u' && !form.isBytes) {
    hexEscape(4);
  } else if (c == 'U' && !form.isBytes) {
    hexEscape(8);
  } else if (c == 'N' && !form.isBytes) {
    namedEscape();
  } else {
    value += '\\';
    ++at;
  }
}

void Decoder::octalEscape() {
  uint32_t number = 0;
  ++at;
  for (int digits = 0; digits < 3 && peek() >= '0' && peek() <= '7'; ++digits)
    number = number * 8 + static_cast<uint32_t>(text[at++] - '0');
  put(number);
}

void Decoder::hexEscape(size_t digits) {
  uint32_t number = 0;
  for (size_t i = 0; i < digits; ++i) {
    unsigned digit = llvm::hexDigitValue(peek(2 + i));
    if (digit >= 16)
      return fail(at, 2 + i, "it needs " + std::to_string(digits) + " hexadecimal digits");
    number = number * 16 + digit;
  }
  if (number > 0x10FFFF)
    return fail(at, 2 + digits, "the largest character is `\\U0010FFFF`");
  at += 2 + digits;
  put(number);
}

void Decoder::namedEscape() {
  size_t close = text.find('}', at);
  if (peek(2) != '{' || close == llvm::StringRef::npos)
    return fail(at, 2, "it is written `\\N{NAME OF A CHARACTER}`");
  std::string name = text.slice(at + 3, close).upper();
  std::optional<char32_t> codepoint;
  if (!name.empty())
    codepoint = llvm::sys::unicode::nameToCodepointStrict(name);
  if (!codepoint)
    return fail(at, close + 1 - at, "Unicode has no character of this name");
  at = close + 1;
  put(*codepoint);
}

bool decodeString(const support::SourceFile &file, SourceRange contents, StringForm form, BraceRule braces,
                  support::DiagnosticEngine &diagnostics, std::string &value) {
  return Decoder(file, contents, form, braces, diagnostics, value).run();
}

} // namespace nereid::syntax
