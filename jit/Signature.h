// The specialisation of each argument of a launch; equal signatures share a kernel.
// SPDX-License-Identifier: MIT
//
// One argument in each form, in the syntax of the command line:
//   *fp32:16            pointer, its address a multiple of 16
//   *ki8                pointer that is only read
//   *fp32:16:S          pointer into memory of less than 2 GiB, which AMD's buffer instructions reach
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
/// Parses the names in signatures, and "i1" and "B" for "u1".
std::optional<ScalarType> parseScalarType(std::string_view text);

enum class ArgumentKind : uint8_t { Pointer, Scalar, Constant, Tuple, Descriptor };

/// The specialisation of one argument. Created by the named functions below; fields without meaning for a kind keep
/// their defaults.
struct ArgumentSpec {
  ArgumentKind kind = ArgumentKind::Scalar;
  ScalarType type = ScalarType::I32;  ///< scalar, or what a pointer points to
  bool divisibleBy16 = false;         ///< pointer or integer
  bool isConst = false;               ///< pointer that is only read
  bool within2GiB = false;            ///< pointer whose whole storage has at most 2^31 - 1 bytes
  std::string text;                   ///< constant: its repr, any bytes; descriptor: "fp16[64, 64]"
  std::vector<ArgumentSpec> elements; ///< tuple

  bool operator==(const ArgumentSpec &) const = default;

  static ArgumentSpec pointer(ScalarType pointee, bool divisibleBy16, bool isConst = false, bool within2GiB = false);
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

/// Types integers as Triton does: i32 where it fits, else i64, else u64; the value 1 becomes a constant.
ArgumentSpec specializeInt(int64_t value, SpecializeRule rule = {});
ArgumentSpec specializeUnsigned(uint64_t value, SpecializeRule rule = {});
ArgumentSpec specializePointer(uint64_t address, ScalarType pointee, bool isConst = false, SpecializeRule rule = {});

/// Appends one argument to a launch key. A signature's key is the sequence of its arguments' keys; only these functions
/// write keys, so that a launcher may write a key without creating a signature first.
void appendPointerKey(std::string &key, ScalarType pointee, bool divisibleBy16, bool isConst, bool within2GiB = false);
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

  /// Parses the output of `str`, and hand-written signatures.
  static std::variant<Signature, SignatureError> parse(std::string_view text);
  /// Parses the output of `key` and of the functions above; nothing for other bytes.
  static std::optional<Signature> fromKey(std::string_view key);
};

} // namespace nereid::jit
