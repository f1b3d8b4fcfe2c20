// Implements arithmetic and conversions with a given rounding: rn to nearest even, rz toward zero, rd down, ru up.
// SPDX-License-Identifier: MIT
//
// PTX names the rounding in the instruction: rn, rz, rm (down) and rp (up).
#include "compiler/math/library/gpu/Library.h"

#define UNARY_INSTRUCTION(name, text, type, letter)                                                                    \
  type __nv_##name(type x) {                                                                                           \
    type result;                                                                                                       \
    __asm__(text " %0, %1;" : "=" letter(result) : letter(x));                                                         \
    return result;                                                                                                     \
  }
#define BINARY_INSTRUCTION(name, text, type, letter)                                                                   \
  type __nv_##name(type x, type y) {                                                                                   \
    type result;                                                                                                       \
    __asm__(text " %0, %1, %2;" : "=" letter(result) : letter(x), letter(y));                                          \
    return result;                                                                                                     \
  }
#define TERNARY_INSTRUCTION(name, text, type, letter)                                                                  \
  type __nv_##name(type x, type y, type z) {                                                                           \
    type result;                                                                                                       \
    __asm__(text " %0, %1, %2, %3;" : "=" letter(result) : letter(x), letter(y), letter(z));                           \
    return result;                                                                                                     \
  }
#define CONVERSION(name, text, from, fromLetter, to, toLetter)                                                         \
  to __nv_##name(from x) {                                                                                             \
    to result;                                                                                                         \
    __asm__(text " %0, %1;" : "=" toLetter(result) : fromLetter(x));                                                   \
    return result;                                                                                                     \
  }

#define ARITHMETIC(letter, type, registers, bits, suffix, mode)                                                        \
  BINARY_INSTRUCTION(letter##add_##suffix, "add." mode bits, type, registers)                                          \
  BINARY_INSTRUCTION(letter##sub_##suffix, "sub." mode bits, type, registers)                                          \
  BINARY_INSTRUCTION(letter##mul_##suffix, "mul." mode bits, type, registers)                                          \
  BINARY_INSTRUCTION(letter##div_##suffix, "div." mode bits, type, registers)                                          \
  UNARY_INSTRUCTION(letter##rcp_##suffix, "rcp." mode bits, type, registers)                                           \
  UNARY_INSTRUCTION(letter##sqrt_##suffix, "sqrt." mode bits, type, registers)

#define ALL(suffix, mode)                                                                                              \
  ARITHMETIC(f, float, "f", ".f32", suffix, mode)                                                                      \
  ARITHMETIC(d, double, "d", ".f64", suffix, mode)                                                                     \
  TERNARY_INSTRUCTION(fmaf_##suffix, "fma." mode ".f32", float, "f")                                                   \
  TERNARY_INSTRUCTION(fma_##suffix, "fma." mode ".f64", double, "d")                                                   \
  CONVERSION(double2float_##suffix, "cvt." mode ".f32.f64", double, "d", float, "f")                                   \
  CONVERSION(int2float_##suffix, "cvt." mode ".f32.s32", int32_t, "r", float, "f")                                     \
  CONVERSION(uint2float_##suffix, "cvt." mode ".f32.u32", uint32_t, "r", float, "f")                                   \
  CONVERSION(ll2float_##suffix, "cvt." mode ".f32.s64", int64_t, "l", float, "f")                                      \
  CONVERSION(ull2float_##suffix, "cvt." mode ".f32.u64", uint64_t, "l", float, "f")                                    \
  CONVERSION(ll2double_##suffix, "cvt." mode ".f64.s64", int64_t, "l", double, "d")                                    \
  CONVERSION(ull2double_##suffix, "cvt." mode ".f64.u64", uint64_t, "l", double, "d")

ALL(rn, "rn")
ALL(rz, "rz")
ALL(rd, "rm")
ALL(ru, "rp")

double __nv_int2double_rn(int32_t x) { return x; }
double __nv_uint2double_rn(uint32_t x) { return x; }
float __nv_frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
