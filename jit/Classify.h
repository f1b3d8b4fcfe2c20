// The specialisation of a run-time argument by its value: bytes of a launch's key, words of a signature, attributes.
// SPDX-License-Identifier: MIT
//
// Inline, since a launch classifies each of its arguments.
#pragma once

#include "jit/Packing.h"
#include "jit/Signature.h"

#include <array>
#include <vector>

namespace nereid::jit {

/// Options of specialisation for one parameter.
struct SpecializeRule {
  bool value = true;     ///< look at the value (1, multiple of 16)
  bool alignment = true; ///< look at divisibility by 16
};

/// The properties of one argument that code depends on; arguments of equal classes share a kernel.
struct ArgumentClass {
  enum class Form : char { One = '1', Scalar = 's', Pointer = 'p' };

  Form form = Form::Scalar;
  ScalarType type = ScalarType::Int32; ///< of the scalar, or of what the pointer points to
  bool isAligned = false;              ///< a multiple of 16
  bool isWithin2GiB = false;           ///< of a pointer: its whole storage has at most 2^31 - 1 bytes

  bool operator==(const ArgumentClass &) const = default;

  /// Its bytes in a launch's key; those of different classes differ.
  constexpr std::array<char, 2> key() const {
    return {static_cast<char>(form),
            static_cast<char>(static_cast<uint8_t>(type) | (isAligned ? 0x40 : 0) | (isWithin2GiB ? 0x80 : 0))};
  }
  /// "*fp32", "*kfp32", "i32"; "constexpr" for the number 1.
  std::string text(bool isConst = false) const;
  /// What Triton's hooks show of a pointer or an integer: "D" for an aligned one, "S" for one within 2 GiB, "DS", "".
  /// Nothing for others.
  std::optional<std::string_view> letters() const;
  ArgumentSpec spec(bool isConst = false) const;
};

/// Types integers as Triton does: i32 where it fits, else i64, else u64; the value 1 becomes a constant.
constexpr ArgumentClass classifyInteger(int64_t value, SpecializeRule rule = {}) {
  if (value == 1 && rule.value)
    return {.form = ArgumentClass::Form::One};
  const bool isNarrow = value >= INT32_MIN && value <= INT32_MAX;
  return {.type = isNarrow ? ScalarType::Int32 : ScalarType::Int64,
          .isAligned = rule.value && rule.alignment && value % 16 == 0};
}

constexpr ArgumentClass classifyUnsigned(uint64_t value, SpecializeRule rule = {}) {
  if (value <= INT64_MAX)
    return classifyInteger(static_cast<int64_t>(value), rule);
  return {.type = ScalarType::UInt64, .isAligned = rule.value && rule.alignment && value % 16 == 0};
}

constexpr ArgumentClass classifyPointer(uint64_t address, ScalarType pointee, bool isWithin2GiB = false,
                                        SpecializeRule rule = {}) {
  return {.form = ArgumentClass::Form::Pointer,
          .type = pointee,
          .isAligned = rule.value && rule.alignment && address % 16 == 0,
          .isWithin2GiB = rule.value && isWithin2GiB};
}

/// Of the integers first, first + step, ... up to last: some that together have each class that one of them has, under
/// any rule. `step` is above 0; none where `first` is above `last`.
std::vector<int64_t> integersOfEachClass(int64_t first, int64_t last, uint64_t step);

/// Classifies a bool, an integer or a float.
constexpr ArgumentClass classifyNumber(const ArgumentLeaf &number, SpecializeRule rule = {}) {
  switch (number.kind) {
  case ArgumentLeaf::Kind::Int:
    return classifyInteger(number.integer, rule);
  case ArgumentLeaf::Kind::UInt:
    return classifyUnsigned(number.bits, rule);
  case ArgumentLeaf::Kind::Float:
    return {.type = ScalarType::Float32};
  default:
    return {.type = ScalarType::Int1};
  }
}

} // namespace nereid::jit
