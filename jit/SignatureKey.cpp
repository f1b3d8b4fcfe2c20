// Signatures as bytes, which the launch table compares.
// SPDX-License-Identifier: MIT
//
// Each argument is a letter and its data: for `P` and `S` one byte (5 bits of type, then divisible, const, within 2
// GiB), for `C` and `D` a length and bytes, for `T` the number of elements. Different lists of arguments have different
// keys.
#include "jit/Signature.h"
#include "jit/SignatureWords.h"

#include <iterator>
#include <utility>

namespace nereid::jit {

static constexpr char kPointer = 'P', kScalar = 'S', kConstant = 'C', kDescriptor = 'D', kTuple = 'T';
static constexpr unsigned kTypeMask = 31, kDivisible = 32, kConst = 64, kWithin2GiB = 128;

static constexpr ScalarType kScalarTypes[] = {
#define SCALAR_TYPE(id, spelling, bits, klass) ScalarType::id,
#include "jit/ScalarTypes.def"
};
static_assert(std::size(kScalarTypes) <= kTypeMask + 1);

void appendPointerKey(std::string &key, ScalarType pointee, bool divisibleBy16, bool isConst, bool within2GiB) {
  key += kPointer;
  key += static_cast<char>(static_cast<unsigned>(pointee) | (divisibleBy16 ? kDivisible : 0) | (isConst ? kConst : 0) |
                           (within2GiB ? kWithin2GiB : 0));
}

void appendScalarKey(std::string &key, ScalarType type, bool divisibleBy16) {
  key += kScalar;
  key += static_cast<char>(static_cast<unsigned>(type) | (divisibleBy16 ? kDivisible : 0));
}

static void appendNumber(std::string &key, uint32_t number) {
  for (int shift = 0; shift < 32; shift += 8)
    key += static_cast<char>(number >> shift);
}

static void appendText(std::string &key, char letter, std::string_view text) {
  key += letter;
  appendNumber(key, static_cast<uint32_t>(text.size()));
  key += text;
}

void appendConstantKey(std::string &key, std::string_view repr) { appendText(key, kConstant, repr); }

void appendDescriptorKey(std::string &key, std::string_view block) { appendText(key, kDescriptor, block); }

void appendTupleKey(std::string &key, uint32_t count) {
  key += kTuple;
  appendNumber(key, count);
}

static void appendKey(std::string &key, const ArgumentSpec &argument) {
  switch (argument.kind) {
  case ArgumentKind::Pointer:
    return appendPointerKey(key, argument.type, argument.divisibleBy16, argument.isConst, argument.within2GiB);
  case ArgumentKind::Scalar:
    return appendScalarKey(key, argument.type, argument.divisibleBy16);
  case ArgumentKind::Constant:
    return appendConstantKey(key, argument.text);
  case ArgumentKind::Descriptor:
    return appendDescriptorKey(key, argument.text);
  case ArgumentKind::Tuple:
    appendTupleKey(key, static_cast<uint32_t>(argument.elements.size()));
    for (const ArgumentSpec &element : argument.elements)
      appendKey(key, element);
    return;
  }
}

std::string Signature::key() const {
  std::string key;
  for (const ArgumentSpec &argument : arguments)
    appendKey(key, argument);
  return key;
}

namespace {

/// Parses arguments at the front of a key; false for invalid bytes.
struct KeyReader {
  std::string_view rest;

  bool take(size_t count, std::string_view &out) {
    if (count > rest.size())
      return false;
    out = rest.substr(0, count);
    rest.remove_prefix(count);
    return true;
  }

  bool number(uint32_t &out) {
    std::string_view bytes;
    if (!take(4, bytes))
      return false;
    out = 0;
    for (int i = 0; i < 4; ++i)
      out |= uint32_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    return true;
  }

  bool text(ArgumentSpec &out, ArgumentSpec (*make)(std::string)) {
    uint32_t length = 0;
    std::string_view bytes;
    if (!number(length) || !take(length, bytes))
      return false;
    out = make(std::string(bytes));
    return true;
  }

  bool typed(ArgumentSpec &out, bool isPointer) {
    std::string_view byte;
    if (!take(1, byte))
      return false;
    const unsigned bits = static_cast<unsigned char>(byte[0]);
    const unsigned known = kTypeMask | kDivisible | (isPointer ? kConst | kWithin2GiB : 0);
    if ((bits & ~known) != 0 || (bits & kTypeMask) >= std::size(kScalarTypes))
      return false;
    const ScalarType type = kScalarTypes[bits & kTypeMask];
    out = isPointer ? ArgumentSpec::pointer(type, bits & kDivisible, bits & kConst, bits & kWithin2GiB)
                    : ArgumentSpec::scalar(type, bits & kDivisible);
    return true;
  }

  bool tuple(ArgumentSpec &out, int depth) {
    uint32_t count = 0;
    // An element takes at least two bytes, which bounds the count.
    if (depth == kMaxTupleDepth || !number(count) || count > rest.size() / 2)
      return false;
    std::vector<ArgumentSpec> elements(count);
    for (ArgumentSpec &element : elements)
      if (!argument(element, depth + 1))
        return false;
    out = ArgumentSpec::tuple(std::move(elements));
    return true;
  }

  bool argument(ArgumentSpec &out, int depth) {
    std::string_view letter;
    if (!take(1, letter))
      return false;
    switch (letter[0]) {
    case kPointer:
      return typed(out, true);
    case kScalar:
      return typed(out, false);
    case kConstant:
      return text(out, ArgumentSpec::constant);
    case kDescriptor:
      return text(out, ArgumentSpec::descriptor);
    case kTuple:
      return tuple(out, depth);
    default:
      return false;
    }
  }
};

} // namespace

std::optional<Signature> Signature::fromKey(std::string_view key) {
  Signature signature;
  KeyReader reader{key};
  while (!reader.rest.empty())
    if (!reader.argument(signature.arguments.emplace_back(), 0))
      return std::nullopt;
  return signature;
}

} // namespace nereid::jit
