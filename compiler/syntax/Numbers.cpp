// Scans and evaluates Python's number literals.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Numbers.h"

#include "compiler/syntax/Characters.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <charconv>
#include <limits>

namespace nereid::syntax {

namespace {
// Scans a number; `problem` is set at the first rule it breaks.
struct Scanner {
  llvm::StringRef text;
  size_t at = 0;
  std::string problem;

  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  bool atDigit(unsigned radix, size_t ahead = 0) const { return llvm::hexDigitValue(peek(ahead)) < radix; }
  void fail(llvm::StringRef why) {
    if (problem.empty())
      problem = why.str();
  }

  // Scans digits with single underscores between them. True if there was a digit.
  bool digits(unsigned radix) {
    size_t first = at;
    while (atDigit(radix) || peek() == '_') {
      if (peek() == '_' && !atDigit(radix, 1))
        fail("an underscore must stand between two digits");
      ++at;
    }
    return at != first;
  }
};
} // namespace

static unsigned prefixRadix(llvm::StringRef text) {
  if (text.size() < 2 || text[0] != '0')
    return 10;
  switch (llvm::toLower(text[1])) {
  case 'x':
    return 16;
  case 'o':
    return 8;
  case 'b':
    return 2;
  }
  return 10;
}

static void scanPrefixed(Scanner &scanner, unsigned radix) {
  scanner.at = 2;
  if (scanner.peek() == '_')
    ++scanner.at;
  llvm::StringRef allowed = radix == 16 ? "0-9 and a-f" : radix == 8 ? "0-7" : "0 and 1";
  if (!scanner.digits(radix))
    scanner.fail(("the prefix needs digits after it: " + allowed).str());
  else if (scanner.atDigit(10))
    scanner.fail(("its digits are " + allowed).str());
}

static bool scanExponent(Scanner &scanner) {
  if (llvm::toLower(scanner.peek()) != 'e')
    return false;
  bool isSigned = scanner.peek(1) == '+' || scanner.peek(1) == '-';
  if (!scanner.atDigit(10, isSigned ? 2 : 1))
    return false;
  scanner.at += isSigned ? 2 : 1;
  scanner.digits(10);
  return true;
}

static TokenKind scanDecimal(Scanner &scanner) {
  scanner.digits(10);
  llvm::StringRef whole = scanner.text.take_front(scanner.at);
  bool isFloat = scanner.peek() == '.';
  if (isFloat) {
    ++scanner.at;
    if (scanner.peek() == '_')
      scanner.fail("an underscore must stand between two digits");
    scanner.digits(10);
  }
  isFloat |= scanExponent(scanner);
  if (llvm::toLower(scanner.peek()) == 'j') {
    ++scanner.at;
    return TokenKind::Imaginary;
  }
  if (isFloat)
    return TokenKind::Float;
  if (whole.starts_with("0") && whole.find_first_not_of("0_") != llvm::StringRef::npos)
    scanner.fail("write it without leading zeros, or with `0o` in front if it is octal");
  return TokenKind::Int;
}

// A keyword can follow a number without a space: `1if x else 2`.
static bool startsWithOperatorKeyword(llvm::StringRef text) {
  static constexpr llvm::StringLiteral keywords[] = {"and", "else", "for", "if", "in", "is", "not", "or"};
  return llvm::any_of(keywords, [&](llvm::StringRef keyword) { return text.starts_with(keyword); });
}

NumberScan scanNumber(llvm::StringRef text) {
  Scanner scanner{text, 0, {}};
  NumberScan result;
  if (unsigned radix = prefixRadix(text); radix != 10)
    scanPrefixed(scanner, radix);
  else
    result.kind = scanDecimal(scanner);

  llvm::StringRef rest = text.substr(scanner.at);
  size_t junk = 0;
  if (!rest.empty() && !startsWithOperatorKeyword(rest)) {
    while (junk < rest.size()) {
      Character next = firstCharacter(rest.substr(junk));
      if (next.byteCount == 0 || !canContinueName(next.codepoint))
        break;
      junk += next.byteCount;
    }
  }
  if (junk != 0)
    scanner.fail(
        ("`" + rest.take_front(junk) + "` cannot follow its digits, Python's numbers have no suffix but `j`").str());
  result.length = scanner.at + junk;
  result.problem = std::move(scanner.problem);
  return result;
}

IntText readInt(llvm::StringRef token) {
  IntText result;
  result.radix = static_cast<uint8_t>(prefixRadix(token));
  for (char c : result.radix == 10 ? token : token.drop_front(2))
    if (c != '_')
      result.digits += c;
  return result;
}

// Whether a decimal number outside of double's range is large rather than small.
static bool isLarge(llvm::StringRef digits) {
  auto [mantissa, exponentText] = digits.split('e');
  auto [whole, fraction] = mantissa.split('.');
  if (exponentText.starts_with("-"))
    return false;
  if (!exponentText.empty())
    return true;
  return whole.find_first_not_of('0') != llvm::StringRef::npos;
}

double readFloat(llvm::StringRef token) {
  std::string digits;
  for (char c : token.rtrim("jJ"))
    if (c != '_')
      digits += llvm::toLower(c);
  double value = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range)
    return isLarge(digits) ? std::numeric_limits<double>::infinity() : 0.0;
  return value;
}

} // namespace nereid::syntax
