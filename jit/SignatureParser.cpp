// Reads a signature as people write it, and says where it goes wrong.
// SPDX-License-Identifier: MIT
#include "jit/Signature.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nereid::jit {

static constexpr int kMaxDepth = 32;
static constexpr size_t kNone = std::string_view::npos;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }
static bool isNameStart(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool isName(char c) { return isNameStart(c) || isDigit(c); }
static bool isSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

/// Edits between two short words; what is close to a known type was meant.
static size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The type that an unknown word stands for elsewhere, or resembles.
static std::string_view meantType(std::string_view word) {
  static constexpr std::pair<std::string_view, std::string_view> kElsewhere[] = {
      {"float16", "fp16"}, {"half", "fp16"},   {"bfloat16", "bf16"}, {"float32", "fp32"},
      {"float", "fp32"},   {"f32", "fp32"},    {"float64", "fp64"},  {"double", "fp64"},
      {"f16", "fp16"},     {"f64", "fp64"},    {"bool", "u1"},       {"int1", "u1"},
      {"int", "i32"},      {"int8", "i8"},     {"int16", "i16"},     {"int32", "i32"},
      {"int64", "i64"},    {"uint8", "u8"},    {"uint16", "u16"},    {"uint32", "u32"},
      {"uint64", "u64"}};
  for (const auto &[other, ours] : kElsewhere)
    if (word == other)
      return ours;
  static constexpr std::string_view kSpellings[] = {
#define SCALAR_TYPE(id, spelling, bits, klass) spelling,
#include "jit/ScalarTypes.def"
  };
  // Digits change places more easily than they change.
  const auto rank = [&](std::string_view type) {
    const bool isSwapped = std::is_permutation(word.begin(), word.end(), type.begin(), type.end());
    return isSwapped ? 1 : distance(word, type);
  };
  const auto *closest = std::min_element(std::begin(kSpellings), std::end(kSpellings),
                                         [&](auto a, auto b) { return rank(a) < rank(b); });
  return rank(*closest) <= 1 ? *closest : std::string_view();
}

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text(text) {}

  std::variant<Signature, SignatureError> run() {
    Signature signature;
    skipSpace();
    while (at < text.size() || !signature.arguments.empty()) {
      if (!argument(signature.arguments.emplace_back(), 0))
        return error;
      skipSpace();
      if (at == text.size())
        break;
      if (!expectComma())
        return error;
    }
    return signature;
  }

private:
  bool fail(size_t begin, size_t end, const char *code, std::string message) {
    error = {begin, std::max(end, begin) - begin, code, std::move(message)};
    return false;
  }
  bool failSyntax(size_t begin, size_t end, std::string message) {
    return fail(begin, end, "signature-syntax", std::move(message));
  }

  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }
  void skipSpace() {
    while (at < text.size() && isSpace(text[at]))
      ++at;
  }
  std::string quote(size_t begin) const {
    return "`" + std::string(text.substr(begin, at - begin)) + "`";
  }
  bool constant(Argument &out, size_t begin) {
    out = Argument::constant(std::string(text.substr(begin, at - begin)));
    return true;
  }

  bool expectComma() {
    if (peek() != ',')
      return failSyntax(at, at + 1, std::string("`") + peek() + "` is unexpected; arguments are separated by `,`");
    ++at;
    return true;
  }

  bool argument(Argument &out, int depth);
  bool tuple(Argument &out, int depth);
  bool pointer(Argument &out);
  bool name(Argument &out);
  bool typed(Argument &out, size_t begin);
  bool unknownName(size_t begin);
  bool number(Argument &out);
  bool string(Argument &out);
  bool bracketed(Argument &out, size_t begin);
  bool descriptor(Argument &out, size_t begin);
  bool quotedConstant(Argument &out, size_t begin);
  size_t stringEnd(size_t begin) const;
  size_t balancedEnd(size_t begin) const;

  std::string_view text;
  size_t at = 0;
  SignatureError error;
};

} // namespace

bool Parser::argument(Argument &out, int depth) {
  skipSpace();
  const char c = peek();
  if (at == text.size() || c == ',')
    return failSyntax(at, at + 1, "an argument is missing here");
  if (c == '(')
    return tuple(out, depth);
  if (c == '*')
    return pointer(out);
  if (c == '\'' || c == '"')
    return string(out);
  if (c == '[' || c == '{')
    return bracketed(out, at);
  if (isNameStart(c))
    return name(out);
  if (isDigit(c) || c == '-' || c == '+' || c == '.')
    return number(out);
  return failSyntax(at, at + 1, std::string("`") + c + "` begins no type and no constant");
}

bool Parser::tuple(Argument &out, int depth) {
  const size_t begin = at++;
  if (depth == kMaxDepth)
    return fail(begin, begin + 1, "signature-depth",
                "tuples are nested deeper than " + std::to_string(kMaxDepth) + " levels");
  std::vector<Argument> elements;
  bool endsWithComma = true;
  for (skipSpace(); peek() != ')'; skipSpace()) {
    if (at == text.size())
      return failSyntax(begin, begin + 1, "`(` is never closed");
    if (!endsWithComma)
      return failSyntax(at, at + 1, std::string("`") + peek() + "` is unexpected in a tuple");
    if (!argument(elements.emplace_back(), depth + 1))
      return false;
    skipSpace();
    endsWithComma = peek() == ',';
    at += endsWithComma;
  }
  ++at;
  // As in Python: a lone element is in a tuple only with its comma.
  const bool isElement = elements.size() == 1 && !endsWithComma;
  Argument whole = isElement ? std::move(elements.front()) : Argument::tuple(std::move(elements));
  out = std::move(whole);
  return true;
}

bool Parser::pointer(Argument &out) {
  const size_t begin = at++;
  const bool isConst = peek() == 'k';
  at += isConst;
  const size_t typeBegin = at;
  while (isName(peek()))
    ++at;
  const auto type = parseScalarType(text.substr(typeBegin, at - typeBegin));
  if (!type)
    return unknownName(typeBegin);
  out = Argument::pointer(*type, false, isConst);
  return typed(out, begin);
}

/// What may follow a type: `:16`, and for an integer `:1`.
bool Parser::typed(Argument &out, size_t begin) {
  if (peek() != ':')
    return true;
  const std::string type = quote(begin);
  const size_t colon = at++;
  while (isName(peek()))
    ++at;
  const std::string_view attribute = text.substr(colon + 1, at - colon - 1);
  const ScalarClass klass = scalarClass(out.type);
  const bool isPointer = out.kind == ArgumentKind::Pointer;
  const bool isInt = !isPointer && (klass == ScalarClass::Signed || klass == ScalarClass::Unsigned);
  if (attribute == "16" && (isPointer || isInt))
    out.divisibleBy16 = true;
  else if (attribute == "1" && isInt)
    out = Argument::constant("1");
  else
    return fail(colon, at, "signature-attribute",
                quote(colon) + " does not go with " + type +
                    (isPointer ? "; a pointer takes `:16`"
                     : isInt   ? "; an integer takes `:16` or `:1`"
                               : "; a float or bool takes nothing"));
  return true;
}

bool Parser::unknownName(size_t begin) {
  const std::string_view word = text.substr(begin, at - begin);
  const std::string_view meant = meantType(word);
  std::string hint = "; a string constant is written in quotes";
  if (word == "constexpr")
    hint = "; write the constant's value itself";
  else if (!meant.empty())
    hint = "; did you mean `" + std::string(meant) + "`?";
  return fail(begin, at, "signature-type", quote(begin) + " is no known type" + hint);
}

bool Parser::name(Argument &out) {
  const size_t begin = at;
  while (isName(peek()) || (peek() == '.' && isNameStart(peek(1))))
    ++at;
  const std::string_view word = text.substr(begin, at - begin);
  if (word == "tensordesc" && peek() == '<')
    return descriptor(out, begin);
  if (word == "constexpr" && peek() == '<')
    return quotedConstant(out, begin);
  if (peek() == '(')
    return bracketed(out, begin);
  if (const auto type = parseScalarType(word)) {
    out = Argument::scalar(*type);
    return typed(out, begin);
  }
  const bool isConstant = word == "True" || word == "False" || word == "None" || word == "inf" ||
                          word == "nan" || word.find('.') != kNone;
  return isConstant ? constant(out, begin) : unknownName(begin);
}

/// A number as Python writes it; only its form is looked at.
static bool isNumber(std::string_view word) {
  if (word.starts_with('-') || word.starts_with('+'))
    word.remove_prefix(1);
  if (word == "inf" || word == "nan")
    return true;
  if (word.size() > 2 && word[0] == '0' && std::string_view("xXoObB").find(word[1]) != kNone)
    return word.find_first_not_of("0123456789abcdefABCDEF_", 2) == kNone;
  const auto skipDigits = [&] {
    size_t count = 0;
    for (; !word.empty() && (isDigit(word.front()) || word.front() == '_'); word.remove_prefix(1))
      ++count;
    return count;
  };
  size_t digits = skipDigits();
  if (word.starts_with('.')) {
    word.remove_prefix(1);
    digits += skipDigits();
  }
  if (digits != 0 && (word.starts_with('e') || word.starts_with('E'))) {
    word.remove_prefix(1);
    if (word.starts_with('-') || word.starts_with('+'))
      word.remove_prefix(1);
    if (skipDigits() == 0)
      return false;
  }
  return digits != 0 && word.empty();
}

bool Parser::number(Argument &out) {
  const size_t begin = at++;
  while (isName(peek()) || peek() == '.' ||
         ((peek() == '-' || peek() == '+') && (text[at - 1] == 'e' || text[at - 1] == 'E')))
    ++at;
  if (!isNumber(text.substr(begin, at - begin)))
    return failSyntax(begin, at, quote(begin) + " is no number");
  return constant(out, begin);
}

/// Behind the string literal that begins there; kNone when it does not end.
size_t Parser::stringEnd(size_t begin) const {
  for (size_t i = begin + 1; i < text.size(); ++i) {
    if (text[i] == '\\')
      ++i;
    else if (text[i] == text[begin])
      return i + 1;
  }
  return kNone;
}

bool Parser::string(Argument &out) {
  const size_t begin = at;
  const size_t end = stringEnd(begin);
  if (end == kNone)
    return failSyntax(begin, begin + 1, "the string is never closed");
  at = end;
  return constant(out, begin);
}

/// Behind the bracket that closes the one there; kNone when none does.
size_t Parser::balancedEnd(size_t begin) const {
  std::string closers;
  for (size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '(' || c == '[' || c == '{') {
      closers += c == '(' ? ')' : c == '[' ? ']' : '}';
    } else if (c == ')' || c == ']' || c == '}') {
      if (closers.empty() || closers.back() != c)
        return kNone;
      closers.pop_back();
      if (closers.empty())
        return i + 1;
    } else if (c == '\'' || c == '"') {
      const size_t end = stringEnd(i);
      if (end == kNone)
        return kNone;
      i = end - 1;
    }
  }
  return kNone;
}

/// A list, a dict or a call: a constant whose inside is left to the host.
bool Parser::bracketed(Argument &out, size_t begin) {
  const size_t end = balancedEnd(at);
  if (end == kNone)
    return failSyntax(at, at + 1, std::string("`") + peek() + "` is never closed");
  at = end;
  return constant(out, begin);
}

bool Parser::descriptor(Argument &out, size_t begin) {
  const size_t inner = at + 1;
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '<';
    if (text[at] == '>' && --depth == 0) {
      out = Argument::descriptor(std::string(text.substr(inner, at - inner)));
      ++at;
      return true;
    }
  }
  return failSyntax(begin, begin + 10, "`tensordesc<` is never closed");
}

static int hexValue(char c) {
  const size_t found = std::string_view("0123456789abcdef").find(c);
  return found == kNone ? -1 : static_cast<int>(found);
}

/// Undoes the escapes of `constexpr<"...">`; false for one that it has not.
static bool unescape(std::string_view inner, std::string &out) {
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      out += inner[i];
      continue;
    }
    if (++i == inner.size())
      return false;
    if (inner[i] == '\\' || inner[i] == '"') {
      out += inner[i];
      continue;
    }
    const int high = i + 2 < inner.size() ? hexValue(inner[i + 1]) : -1;
    const int low = i + 2 < inner.size() ? hexValue(inner[i + 2]) : -1;
    if (inner[i] != 'x' || high < 0 || low < 0)
      return false;
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return true;
}

bool Parser::quotedConstant(Argument &out, size_t begin) {
  const size_t open = at + 1;
  const size_t end = open < text.size() && text[open] == '"' ? stringEnd(open) : kNone;
  if (end == kNone || end >= text.size() || text[end] != '>')
    return failSyntax(begin, open, "`constexpr<` takes a string in double quotes and `>`");
  std::string value;
  if (!unescape(text.substr(open + 1, end - open - 2), value))
    return failSyntax(open, end, "the string has an escape other than `\\\\`, `\\\"` and `\\xNN`");
  at = end + 1;
  out = Argument::constant(std::move(value));
  return true;
}

std::variant<Signature, SignatureError> Signature::parse(std::string_view text) {
  return Parser(text).run();
}

} // namespace nereid::jit
