// The specialisation of each argument of a kernel, as text.
// SPDX-License-Identifier: MIT
//
// One argument in each form, in the syntax of the command line:
//   *fp32:16            pointer, its address a multiple of 16; any power of 2
//   *ki8                pointer that is only read
//   *fp32:16:S          pointer into memory of less than 2 GiB, which AMD's buffer instructions reach
//   i32:16  i64  u64    integer; one that is 1 is the constant 1
//   fp32  u1            float, bool
//   1024  'relu'  None  constant
//   constexpr<"...">    constant with any other text
//   (i32, *fp16, 4)     tuple
//   tensordesc<fp16[64, 64]>
#pragma once

#include "artifact/ElementType.h"
#include "artifact/Expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace nereid::jit {

using ScalarType = artifact::ElementType;

inline std::string_view spelling(ScalarType type) { return artifact::infoOf(type).signature; }

enum class ArgumentKind : uint8_t { Pointer, Scalar, Constant, Tuple, Descriptor };

/// The specialisation of one argument. Created by the named functions below; fields without meaning for a kind keep
/// their defaults.
struct ArgumentSpec {
  ArgumentKind kind = ArgumentKind::Scalar;
  ScalarType type = ScalarType::Int32; ///< scalar, or what a pointer points to
  int64_t divisibility = 1;            ///< pointer or integer: a power of 2 that divides it
  bool isConst = false;                ///< pointer that is only read
  bool within2GiB = false;             ///< pointer whose whole storage has at most 2^31 - 1 bytes
  std::string text;                    ///< constant: its repr, any bytes; descriptor: "fp16[64, 64]"
  std::vector<ArgumentSpec> elements;  ///< tuple

  bool operator==(const ArgumentSpec &) const = default;
  bool isValue() const { return kind != ArgumentKind::Constant && kind != ArgumentKind::Tuple; }
  bool canDivide() const {
    return kind == ArgumentKind::Pointer || (kind == ArgumentKind::Scalar && artifact::infoOf(type).isInteger());
  }

  static ArgumentSpec pointer(ScalarType pointee, int64_t divisibility, bool isConst = false, bool within2GiB = false);
  static ArgumentSpec scalar(ScalarType type, int64_t divisibility = 1);
  static ArgumentSpec constant(std::string repr);
  static ArgumentSpec none() { return constant("None"); }
  static ArgumentSpec tuple(std::vector<ArgumentSpec> elements);
  static ArgumentSpec descriptor(std::string block);
};

/// The type of a run-time value: "*kfp32", "i32", "tensordesc<fp16[64, 64]>".
std::string typeText(const ArgumentSpec &value);
/// A value of such a type with no attributes; nothing for other texts.
std::optional<ArgumentSpec> specOfType(std::string_view text);

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

  /// Parses the output of `str`, and hand-written signatures.
  static std::variant<Signature, SignatureError> parse(std::string_view text);
};

} // namespace nereid::jit
