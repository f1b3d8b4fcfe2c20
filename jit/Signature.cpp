// Signatures: creates arguments, specialises values and prints.
// SPDX-License-Identifier: MIT
#include "jit/Signature.h"

#include <utility>

namespace nereid::jit {

ArgumentSpec ArgumentSpec::pointer(ScalarType pointee, int64_t divisibility, bool isConst, bool within2GiB) {
  ArgumentSpec argument;
  argument.kind = ArgumentKind::Pointer;
  argument.type = pointee;
  argument.divisibility = divisibility;
  argument.isConst = isConst;
  argument.within2GiB = within2GiB;
  return argument;
}

ArgumentSpec ArgumentSpec::scalar(ScalarType type, int64_t divisibility) {
  ArgumentSpec argument;
  argument.type = type;
  argument.divisibility = divisibility;
  return argument;
}

ArgumentSpec ArgumentSpec::constant(std::string repr) {
  ArgumentSpec argument;
  argument.kind = ArgumentKind::Constant;
  argument.text = std::move(repr);
  return argument;
}

ArgumentSpec ArgumentSpec::tuple(std::vector<ArgumentSpec> elements) {
  ArgumentSpec argument;
  argument.kind = ArgumentKind::Tuple;
  argument.elements = std::move(elements);
  return argument;
}

ArgumentSpec ArgumentSpec::descriptor(std::string block) {
  ArgumentSpec argument;
  argument.kind = ArgumentKind::Descriptor;
  argument.text = std::move(block);
  return argument;
}

std::string typeText(const ArgumentSpec &value) {
  if (value.kind == ArgumentKind::Descriptor)
    return "tensordesc<" + value.text + ">";
  const std::string_view prefix = value.kind == ArgumentKind::Scalar ? "" : value.isConst ? "*k" : "*";
  return std::string(prefix) += spelling(value.type);
}

std::optional<ArgumentSpec> specOfType(std::string_view text) {
  const auto parsed = Signature::parse(text);
  const auto *signature = std::get_if<Signature>(&parsed);
  if (!signature || signature->arguments.size() != 1)
    return std::nullopt;
  const ArgumentSpec &value = signature->arguments.front();
  const bool hasAttributes = value.divisibility > 1 || value.within2GiB;
  return value.isValue() && !hasAttributes ? std::optional(value) : std::nullopt;
}

/// `constexpr<"...">`, for constants that would parse as something else, or not at all.
static std::string quoted(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out = "constexpr<\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (byte >= 0x20 && byte < 0x7f)
      out += c;
    else
      ((out += "\\x") += kDigits[byte >> 4]) += kDigits[byte & 15];
  }
  return out + "\">";
}

static std::string printed(const ArgumentSpec &argument);

/// A constant is printed as it is where it parses back as the same constant.
static std::string printedConstant(const ArgumentSpec &argument) {
  const auto back = Signature::parse(argument.text);
  const auto *signature = std::get_if<Signature>(&back);
  const bool isPlain = signature && signature->arguments.size() == 1 && signature->arguments.front() == argument;
  return isPlain ? argument.text : quoted(argument.text);
}

static std::string printedTuple(const ArgumentSpec &argument) {
  std::string out = "(";
  for (const ArgumentSpec &element : argument.elements)
    out += printed(element) + (&element == &argument.elements.back() ? "" : ", ");
  return out + (argument.elements.size() == 1 ? ",)" : ")");
}

static std::string printed(const ArgumentSpec &argument) {
  const std::string divisible = argument.divisibility > 1 ? ":" + std::to_string(argument.divisibility) : "";
  switch (argument.kind) {
  case ArgumentKind::Pointer:
  case ArgumentKind::Scalar:
  case ArgumentKind::Descriptor:
    return typeText(argument) + divisible + (argument.within2GiB ? ":S" : "");
  case ArgumentKind::Constant:
    return printedConstant(argument);
  case ArgumentKind::Tuple:
    return printedTuple(argument);
  }
  return {};
}

std::string Signature::str() const {
  std::string out;
  for (const ArgumentSpec &argument : arguments)
    out += (&argument == &arguments.front() ? "" : ",") + printed(argument);
  return out;
}

} // namespace nereid::jit
