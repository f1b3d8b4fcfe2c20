// Parses a hand-written signature and reports the position of errors.
// SPDX-License-Identifier: MIT
#include "jit/Signature.h"
#include "jit/SignatureWords.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

namespace nereid::jit {

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
  std::string quote(size_t begin) const { return "`" + std::string(text.substr(begin, at - begin)) + "`"; }
  bool constant(ArgumentSpec &out, size_t begin) {
    out = ArgumentSpec::constant(std::string(text.substr(begin, at - begin)));
    return true;
  }

  bool expectComma() {
    if (peek() != ',')
      return failSyntax(at, at + 1, std::string("`") + peek() + "` is unexpected; arguments are separated by `,`");
    ++at;
    return true;
  }

  bool argument(ArgumentSpec &out, int depth);
  bool tuple(ArgumentSpec &out, int depth);
  bool pointer(ArgumentSpec &out);
  bool name(ArgumentSpec &out);
  bool typed(ArgumentSpec &out, size_t begin);
  bool unknownName(size_t begin);
  bool number(ArgumentSpec &out);
  bool string(ArgumentSpec &out);
  bool bracketed(ArgumentSpec &out, size_t begin);
  bool descriptor(ArgumentSpec &out, size_t begin);
  bool quotedConstant(ArgumentSpec &out, size_t begin);

  std::string_view text;
  size_t at = 0;
  SignatureError error;
};

} // namespace

bool Parser::argument(ArgumentSpec &out, int depth) {
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

bool Parser::tuple(ArgumentSpec &out, int depth) {
  const size_t begin = at++;
  if (depth == kMaxTupleDepth)
    return fail(begin, begin + 1, "signature-depth",
                "tuples are nested deeper than " + std::to_string(kMaxTupleDepth) + " levels");
  std::vector<ArgumentSpec> elements;
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
  // As in Python: a single element is a tuple only with its comma.
  const bool isElement = elements.size() == 1 && !endsWithComma;
  ArgumentSpec whole = isElement ? std::move(elements.front()) : ArgumentSpec::tuple(std::move(elements));
  out = std::move(whole);
  return true;
}

bool Parser::pointer(ArgumentSpec &out) {
  const size_t begin = at++;
  const bool isConst = peek() == 'k';
  at += isConst;
  const size_t typeBegin = at;
  while (isName(peek()))
    ++at;
  const auto type = artifact::elementOfSignature(text.substr(typeBegin, at - typeBegin));
  if (!type)
    return unknownName(typeBegin);
  out = ArgumentSpec::pointer(*type, 1, isConst);
  return typed(out, begin);
}

/// "16" and other powers of 2; 0 for other texts.
static int64_t powerOfTwo(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && std::has_single_bit(static_cast<uint64_t>(number))
             ? number
             : 0;
}

/// The suffixes of a type: a power of 2 such as `:16`, for an integer `:1`, for a pointer `:S`.
bool Parser::typed(ArgumentSpec &out, size_t begin) {
  if (peek() != ':')
    return true;
  const std::string type = quote(begin);
  const size_t colon = at++;
  while (isName(peek()))
    ++at;
  const std::string_view attribute = text.substr(colon + 1, at - colon - 1);
  const bool isPointer = out.kind == ArgumentKind::Pointer;
  const bool isInt = !isPointer && out.canDivide();
  const int64_t divisor = powerOfTwo(attribute);
  if (attribute == "1" && isInt)
    out = ArgumentSpec::constant("1");
  else if (attribute == "S" && isPointer)
    out.within2GiB = true;
  else if (divisor > 0 && out.canDivide())
    out.divisibility = divisor;
  else
    return fail(colon, at, "signature-attribute",
                quote(colon) + " does not go with " + type +
                    (isPointer ? "; a pointer takes `:16` or another power of 2, and `:S`"
                     : isInt   ? "; an integer takes `:1`, `:16` or another power of 2"
                               : "; a float or bool takes nothing"));
  return !isPointer || typed(out, begin);
}

bool Parser::unknownName(size_t begin) {
  const std::string_view word = text.substr(begin, at - begin);
  const std::string meant = meantType(word);
  std::string hint = "; a string constant is written in quotes";
  if (word == "constexpr")
    hint = "; write the constant's value itself";
  else if (!meant.empty())
    hint = "; did you mean `" + meant + "`?";
  return fail(begin, at, "signature-type", quote(begin) + " is no known type" + hint);
}

bool Parser::name(ArgumentSpec &out) {
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
  if (const auto type = artifact::elementOfSignature(word)) {
    out = ArgumentSpec::scalar(*type);
    return typed(out, begin);
  }
  const bool isConstant =
      word == "True" || word == "False" || word == "None" || word == "inf" || word == "nan" || word.find('.') != kNone;
  return isConstant ? constant(out, begin) : unknownName(begin);
}

bool Parser::number(ArgumentSpec &out) {
  const size_t begin = at++;
  while (isName(peek()) || peek() == '.' ||
         ((peek() == '-' || peek() == '+') && (text[at - 1] == 'e' || text[at - 1] == 'E')))
    ++at;
  if (!isNumber(text.substr(begin, at - begin)))
    return failSyntax(begin, at, quote(begin) + " is no number");
  return constant(out, begin);
}

bool Parser::string(ArgumentSpec &out) {
  const size_t begin = at;
  const size_t end = stringEnd(text, begin);
  if (end == kNone)
    return failSyntax(begin, begin + 1, "the string is never closed");
  at = end;
  return constant(out, begin);
}

/// A list, a dict or a call: a constant that the host evaluates.
bool Parser::bracketed(ArgumentSpec &out, size_t begin) {
  const size_t end = balancedEnd(text, at);
  if (end == kNone)
    return failSyntax(at, at + 1, std::string("`") + peek() + "` is never closed");
  at = end;
  return constant(out, begin);
}

bool Parser::descriptor(ArgumentSpec &out, size_t begin) {
  const size_t inner = at + 1;
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    depth += text[at] == '<';
    if (text[at] == '>' && --depth == 0) {
      out = ArgumentSpec::descriptor(std::string(text.substr(inner, at - inner)));
      ++at;
      return true;
    }
  }
  return failSyntax(begin, begin + 10, "`tensordesc<` is never closed");
}

bool Parser::quotedConstant(ArgumentSpec &out, size_t begin) {
  const size_t open = at + 1;
  const size_t end = open < text.size() && text[open] == '"' ? stringEnd(text, open) : kNone;
  if (end == kNone || end >= text.size() || text[end] != '>')
    return failSyntax(begin, open, "`constexpr<` takes a string in double quotes and `>`");
  std::string value;
  if (!unescape(text.substr(open + 1, end - open - 2), value))
    return failSyntax(open, end, "the string has an escape other than `\\\\`, `\\\"` and `\\xNN`");
  at = end + 1;
  out = ArgumentSpec::constant(std::move(value));
  return true;
}

std::variant<Signature, SignatureError> Signature::parse(std::string_view text) { return Parser(text).run(); }

} // namespace nereid::jit
