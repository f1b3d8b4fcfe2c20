// What specialisation saw of each argument; equal signatures share a kernel.
// SPDX-License-Identifier: MIT
//
// One argument in each form, as the command line spells it:
//   *fp32:16            pointer, its address a multiple of 16
//   *ki8                pointer that is only read
//   i32:16  i64  u64    integer; one that is 1 is the constant 1
//   fp32  u1            float, bool
//   1024  'relu'  None  constant
//   constexpr<"...">    constant with any other text
//   (i32, *fp16, 4)     tuple
//   tensordesc<fp16[64, 64]>
#pragma once

#include "artifact/Expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::jit {

enum class ScalarType : uint8_t {
#define SCALAR_TYPE(id, spelling, bits, klass) id,
#include "jit/ScalarTypes.def"
};

enum class ScalarClass : uint8_t { Bool, Signed, Unsigned, Float };

std::string_view spelling(ScalarType type);
uint32_t bitWidth(ScalarType type);
ScalarClass scalarClass(ScalarType type);
/// Accepts the signature spellings, and "i1" and "B" for "u1".
std::optional<ScalarType> parseScalarType(std::string_view text);

enum class ArgumentKind : uint8_t { Pointer, Scalar, Constant, Tuple, Descriptor };

/// What is known of one argument when its kernel is chosen. Made by the named
/// functions below; fields without meaning for a kind keep their defaults.
struct ArgumentSpec {
  ArgumentKind kind = ArgumentKind::Scalar;
  ScalarType type = ScalarType::I32;  ///< scalar, or what a pointer points to
  bool divisibleBy16 = false;         ///< pointer or integer
  bool isConst = false;               ///< pointer that is only read
  std::string text;                   ///< constant: its repr, any bytes; descriptor: "fp16[64, 64]"
  std::vector<ArgumentSpec> elements; ///< tuple

  bool operator==(const ArgumentSpec &) const = default;

  static ArgumentSpec pointer(ScalarType pointee, bool divisibleBy16, bool isConst = false);
  static ArgumentSpec scalar(ScalarType type, bool divisibleBy16 = false);
  static ArgumentSpec constant(std::string repr);
  static ArgumentSpec none() { return constant("None"); }
  static ArgumentSpec tuple(std::vector<ArgumentSpec> elements);
  static ArgumentSpec descriptor(std::string block);
};

/// Options of specialisation for one parameter.
struct SpecializeRule {
  bool value = true;     ///< look at the value (1, multiple of 16)
  bool alignment = true; ///< look at divisibility by 16
};

/// Integers as Triton types them: i32 where it fits, else i64, else u64; the
/// value 1 becomes a constant.
ArgumentSpec specializeInt(int64_t value, SpecializeRule rule = {});
ArgumentSpec specializeUnsigned(uint64_t value, SpecializeRule rule = {});
ArgumentSpec specializePointer(uint64_t address, ScalarType pointee, bool isConst = false, SpecializeRule rule = {});

/// Appends one argument to a launch key. A signature's key is the sequence of
/// its arguments' keys; these functions are the only writers, so that a
/// launcher may write the key without making a signature first.
void appendPointerKey(std::string &key, ScalarType pointee, bool divisibleBy16, bool isConst);
void appendScalarKey(std::string &key, ScalarType type, bool divisibleBy16);
void appendConstantKey(std::string &key, std::string_view repr);
void appendDescriptorKey(std::string &key, std::string_view block);
/// Must be followed by the keys of `count` elements.
void appendTupleKey(std::string &key, uint32_t count);

struct SignatureError {
  size_t offset = 0; ///< byte range in the text
  size_t length = 0;
  /// `signature-type`, `signature-attribute`, `signature-syntax` or `signature-depth`.
  std::string code;
  std::string text;
};

struct Signature {
  std::vector<ArgumentSpec> arguments;

  bool operator==(const Signature &) const = default;

  std::string str() const;
  std::string key() const;

  /// Reads what `str` prints, and what people write by hand.
  static std::variant<Signature, SignatureError> parse(std::string_view text);
  /// Reads what `key` and the functions above write; nothing for other bytes.
  static std::optional<Signature> fromKey(std::string_view key);
};

} // namespace nereid::jit
