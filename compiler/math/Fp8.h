// Emits conversions between f32 and floats of 8 bits, on scalars and fixed vectors of any length.
// SPDX-License-Identifier: MIT
//
// Widening is exact. Narrowing rounds to nearest even or towards zero; what is beyond the largest number, infinity
// included, becomes that number, as `cvt.satfinite` of PTX has it; NaN becomes the format's one NaN.

#pragma once

#include <cstdint>

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace nereid::math {

struct Fp8Format {
  unsigned mantissaBits;
  unsigned bias;
  uint8_t largest;      ///< code of the largest number
  uint8_t nan;          ///< code of the NaN that a conversion makes
  uint8_t firstSpecial; ///< from this code on, sign apart, come infinity and NaN; 0x80: none
  bool hasNegativeZero; ///< otherwise the code of -0 is the NaN
};

// OCP 8-bit floating point specification, 1.0.
inline constexpr Fp8Format e5m2{2, 15, 0x7b, 0x7f, 0x7c, true};
inline constexpr Fp8Format e4m3fn{3, 7, 0x7e, 0x7f, 0x7f, true};
// The same with another bias, without infinity and -0 (Noune et al., arXiv 2206.02915).
inline constexpr Fp8Format e5m2fnuz{2, 16, 0x7f, 0x80, 0x80, false};
inline constexpr Fp8Format e4m3fnuz{3, 8, 0x7f, 0x80, 0x80, false};

/// f32 from codes (i8).
llvm::Value *emitFp8ToF32(llvm::IRBuilderBase &builder, llvm::Value *code, const Fp8Format &format);
/// Codes from f32.
llvm::Value *emitF32ToFp8(llvm::IRBuilderBase &builder, llvm::Value *single, const Fp8Format &format, bool towardZero);

} // namespace nereid::math
