// The element types by number, with the properties and spellings of each.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace nereid::artifact {

enum class ElementType : uint8_t {
#define ELEMENT(id, ...) id,
#include "artifact/ElementTypes.def"
};

enum class ElementKind : uint8_t { None, Bool, Signed, Unsigned, Float };

/// What a float's largest exponent holds.
enum class SpecialValues : uint8_t {
  None,   ///< numbers; there is neither infinity nor NaN
  Ieee,   ///< infinity and NaN
  OneNan, ///< numbers; all bits one is the NaN, there is no infinity
  Fnuz,   ///< numbers; the bits of -0 are the NaN, there is no infinity
};

struct ElementInfo {
  ElementType type;
  std::string_view signature;  ///< "fp32", "i32", "u1": as signatures spell it
  std::string_view name;       ///< "float32": as `tl` spells it
  std::string_view otherNames; ///< of torch, NumPy and Python, separated by blanks
  uint8_t bits, exponentBits, mantissaBits;
  int16_t bias;
  ElementKind kind;
  SpecialValues special;
  int8_t dlpackCode; ///< -1: DLPack lacks the type
  int8_t xlaCode;    ///< 0: XLA lacks the type
  std::string_view xlaName;

  constexpr bool isFloat() const { return kind == ElementKind::Float; }
  /// A bool is none.
  constexpr bool isInteger() const { return kind == ElementKind::Signed || kind == ElementKind::Unsigned; }
  constexpr bool isFp8() const { return isFloat() && bits == 8; }
  /// "fp32", "int32": as messages and `dtype.name` spell it.
  constexpr std::string_view abbreviation() const { return isFloat() ? signature : name; }
  /// Bits that an element takes in memory: a bool takes a byte.
  constexpr unsigned storageBits() const { return kind == ElementKind::Bool ? 8 : bits; }
};

/// All of them; the number of a type is its index.
inline constexpr ElementInfo kElementTypes[] = {
#define ELEMENT(id, irType, signature, name, otherNames, bits, exponent, mantissa, bias, kind, special, dlpack, xla,   \
                xlaName)                                                                                               \
  {ElementType::id,        signature, name, otherNames, bits, exponent, mantissa, bias, ElementKind::kind,             \
   SpecialValues::special, dlpack,    xla,  xlaName},
#include "artifact/ElementTypes.def"
};

constexpr const ElementInfo &infoOf(ElementType type) { return kElementTypes[static_cast<unsigned>(type)]; }

/// Bytes that bits take in memory: elements of less than a byte lie next to each other.
constexpr uint64_t bytesOfBits(uint64_t bits) { return (bits + 7) / 8; }
constexpr uint64_t storageBytes(ElementType type, uint64_t elements = 1) {
  return bytesOfBits(infoOf(type).storageBits() * elements);
}

/// Of "fp32", and of "i1" and "B" for "u1"; "void" is no type of an element.
std::optional<ElementType> elementOfSignature(std::string_view text);
/// Of any other spelling: "float32", "half", "bool".
std::optional<ElementType> elementNamed(std::string_view text);
/// Of "f32".
std::optional<ElementType> elementOfXlaName(std::string_view text);
std::optional<ElementType> elementOfDlpack(unsigned code, unsigned bits);
/// The integer of that width; nullopt where there is none. A bool is none.
std::optional<ElementType> integerElement(bool isSigned, unsigned bits);

} // namespace nereid::artifact
