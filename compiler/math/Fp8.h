// Emits conversions between f32 and fp8, on scalars and fixed vectors of any length.
// SPDX-License-Identifier: MIT
//
// Widening is exact. Narrowing rounds to nearest even or towards zero; values beyond the largest number, infinity
// included, become that number, as with `cvt.satfinite` of PTX; NaN becomes the format's one NaN.

#pragma once

#include "artifact/ElementType.h"

namespace llvm {
class IRBuilderBase;
class Value;
} // namespace llvm

namespace nereid::math {

struct Fp8Format {
  unsigned mantissaBits;
  unsigned bias;
  uint8_t largest;      ///< bits of the largest number
  uint8_t nan;          ///< bits of the NaN that a conversion gives
  uint8_t firstSpecial; ///< infinities and NaNs begin here, sign apart; 0x80: none
  bool hasNegativeZero; ///< otherwise the bits of -0 are the NaN
};

/// The format of a row of the table of element types.
Fp8Format fp8FormatOf(const artifact::ElementInfo &element);

/// f32 from fp8 bits (i8).
llvm::Value *emitFp8ToF32(llvm::IRBuilderBase &builder, llvm::Value *code, const Fp8Format &format);
/// fp8 bits from f32.
llvm::Value *emitF32ToFp8(llvm::IRBuilderBase &builder, llvm::Value *single, const Fp8Format &format, bool towardZero);

} // namespace nereid::math
