// The table of element types.
// SPDX-License-Identifier: MIT
#include "xla/ElementType.h"

#include <array>

namespace nereid::xla {

namespace {
struct TypeName {
  ElementType type;
  std::string_view spelling; ///< as in a signature, without the `*` of a pointer
  std::string_view xlaName;
  uint8_t bytes;
};
} // namespace

static constexpr TypeName kTypes[] = {
    {ElementType::Pred, "u1", "pred", 1},
    {ElementType::Pred, "i1", "pred", 1},
    {ElementType::S8, "i8", "s8", 1},
    {ElementType::S16, "i16", "s16", 2},
    {ElementType::S32, "i32", "s32", 4},
    {ElementType::S64, "i64", "s64", 8},
    {ElementType::U8, "u8", "u8", 1},
    {ElementType::U16, "u16", "u16", 2},
    {ElementType::U32, "u32", "u32", 4},
    {ElementType::U64, "u64", "u64", 8},
    {ElementType::F16, "fp16", "f16", 2},
    {ElementType::F32, "fp32", "f32", 4},
    {ElementType::F64, "fp64", "f64", 8},
    {ElementType::Bf16, "bf16", "bf16", 2},
    {ElementType::F8e5m2, "fp8e5", "f8e5m2", 1},
    {ElementType::F8e4m3fn, "fp8e4nv", "f8e4m3fn", 1},
    {ElementType::F8e5m2fnuz, "fp8e5b16", "f8e5m2fnuz", 1},
    {ElementType::F8e4m3fnuz, "fp8e4b8", "f8e4m3fnuz", 1},
};

/// Bytes per element by XLA's number, 0 for unknown types.
static constexpr auto kBytes = [] {
  std::array<uint8_t, 64> bytes{};
  for (const TypeName &known : kTypes)
    bytes[static_cast<size_t>(known.type)] = known.bytes;
  return bytes;
}();

ElementTypes ElementTypes::takenBy(std::string_view pointee) {
  ElementTypes taken;
  taken.takesAll = pointee.empty();
  for (const TypeName &known : kTypes)
    if (known.spelling == pointee)
      taken.bits |= uint64_t{1} << static_cast<int32_t>(known.type);
  if (taken.bits == 0) // a pointee type that XLA lacks is passed as bytes
    for (const TypeName &known : kTypes)
      if (known.bytes == 1)
        taken.bits |= uint64_t{1} << static_cast<int32_t>(known.type);
  return taken;
}

std::string xlaName(ElementType type) {
  for (const TypeName &known : kTypes)
    if (known.type == type)
      return std::string(known.xlaName);
  return "XLA's type " + std::to_string(static_cast<int32_t>(type));
}

std::optional<uint64_t> elementBytes(ElementType type) {
  const auto number = static_cast<uint32_t>(type);
  if (number >= kBytes.size() || kBytes[number] == 0)
    return std::nullopt;
  return kBytes[number];
}

} // namespace nereid::xla
