// The simulator's own encoding of tensor maps, in the 128 bytes that a GPU uses.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace nereid::sim {

/// Types by the numbers of PTX ISA (tensormap.replace .elemtype).
enum class TensorElement : uint8_t { U8, U16, U32, S32, U64, S64, F16, F32, F32Ftz, F64, BF16, TF32, TF32Ftz };

/// Of the address of a map (CUtensorMap).
inline constexpr uint32_t kTensorMapAlignment = 64;

struct TensorMap {
  static constexpr uint32_t kMagic = 0x54534d53;
  uint32_t magic = kMagic;
  uint8_t rank = 1;
  TensorElement element = TensorElement::U8;
  uint8_t swizzle = 0; ///< 0 none, 1: 32 bytes, 2: 64, 3: 128
  uint8_t interleave = 0;
  uint64_t padsWithNan = 0;
  uint64_t base = 0;
  uint64_t strides[4] = {}; ///< in bytes, of every dimension but the fastest
  uint32_t extents[5] = {};
  uint32_t box[5] = {};
  uint32_t elementStrides[5] = {1, 1, 1, 1, 1};
  uint32_t unused = 0;
};
static_assert(sizeof(TensorMap) == 120);

/// The element of a number of the driver's (CUtensorMapDataType).
inline TensorElement elementOfDriver(uint32_t number) {
  constexpr TensorElement known[] = {
      TensorElement::U8,     TensorElement::U16,  TensorElement::U32,    TensorElement::S32, TensorElement::U64,
      TensorElement::S64,    TensorElement::F16,  TensorElement::F32,    TensorElement::F64, TensorElement::BF16,
      TensorElement::F32Ftz, TensorElement::TF32, TensorElement::TF32Ftz};
  return known[number < 13 ? number : 0];
}

inline unsigned bytesOf(TensorElement element) {
  constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 4, 8, 2, 4, 4};
  return bytes[static_cast<uint8_t>(element)];
}

} // namespace nereid::sim
