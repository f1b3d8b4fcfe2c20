// Element types: XLA's numbers and names for them, and which of them a kernel's pointer accepts.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::xla {

/// Element types as XLA numbers them.
enum class ElementType : int32_t {
  Pred = 1,
  S8 = 2,
  S16 = 3,
  S32 = 4,
  S64 = 5,
  U8 = 6,
  U16 = 7,
  U32 = 8,
  U64 = 9,
  F16 = 10,
  F32 = 11,
  F64 = 12,
  Bf16 = 16,
  F8e5m2 = 19,
  F8e4m3fn = 20,
  F8e5m2fnuz = 24,
  F8e4m3fnuz = 25,
};

/// A set of element types, tested at every call.
class ElementTypes {
public:
  /// The types that a pointer to such elements accepts: "fp32" of "*fp32". All one-byte types for a type that XLA
  /// lacks; every type where the spelling is empty, since the payload does not contain it.
  static ElementTypes takenBy(std::string_view pointee);

  bool contain(ElementType type) const {
    const auto number = static_cast<uint32_t>(type);
    return takesAll || (number < 64 && bits >> number & 1);
  }

private:
  uint64_t bits = 0;
  bool takesAll = false;
};

/// "f32", or a text with the number of an unknown type.
std::string xlaName(ElementType type);

/// Bytes per element; nullopt for an unknown type.
std::optional<uint64_t> elementBytes(ElementType type);

} // namespace nereid::xla
