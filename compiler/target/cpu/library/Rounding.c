// Arithmetic and conversions with a stated rounding: rn to nearest even, rz toward zero, rd down, ru up.
// SPDX-License-Identifier: MIT
//
// The processor rounds; volatile keeps the arithmetic between the two changes of its mode, and from being folded.
#include "Library.h"

#define ROUNDED(type, mode, expression)                                                                                \
  const int before = fegetround();                                                                                     \
  fesetround(mode);                                                                                                    \
  volatile type result = (expression);                                                                                 \
  fesetround(before);                                                                                                  \
  return result;

#define ARITHMETIC(letter, type, suffix, mode)                                                                         \
  type __nv_##letter##add_##suffix(type x, type y) {                                                                   \
    volatile type a = x, b = y;                                                                                        \
    ROUNDED(type, mode, a + b)                                                                                         \
  }                                                                                                                    \
  type __nv_##letter##sub_##suffix(type x, type y) {                                                                   \
    volatile type a = x, b = y;                                                                                        \
    ROUNDED(type, mode, a - b)                                                                                         \
  }                                                                                                                    \
  type __nv_##letter##mul_##suffix(type x, type y) {                                                                   \
    volatile type a = x, b = y;                                                                                        \
    ROUNDED(type, mode, a * b)                                                                                         \
  }                                                                                                                    \
  type __nv_##letter##div_##suffix(type x, type y) {                                                                   \
    volatile type a = x, b = y;                                                                                        \
    ROUNDED(type, mode, a / b)                                                                                         \
  }                                                                                                                    \
  type __nv_##letter##rcp_##suffix(type x) {                                                                           \
    volatile type a = 1, b = x;                                                                                        \
    ROUNDED(type, mode, a / b)                                                                                         \
  }

#define CONVERSION(from, fromType, to, toType, suffix, mode)                                                           \
  toType __nv_##from##2##to##_##suffix(fromType x) {                                                                   \
    volatile fromType a = x;                                                                                           \
    ROUNDED(toType, mode, (toType)a)                                                                                   \
  }
// An unsigned zero converted as a difference of equal numbers would be -0 when rounding down.
#define UNSIGNED_CONVERSION(from, fromType, to, toType, suffix, mode)                                                  \
  toType __nv_##from##2##to##_##suffix(fromType x) {                                                                   \
    if (x == 0)                                                                                                        \
      return 0;                                                                                                        \
    volatile fromType a = x;                                                                                           \
    ROUNDED(toType, mode, (toType)a)                                                                                   \
  }

#define ALL(suffix, mode)                                                                                              \
  ARITHMETIC(f, float, suffix, mode)                                                                                   \
  ARITHMETIC(d, double, suffix, mode)                                                                                  \
  float __nv_fsqrt_##suffix(float x) {                                                                                 \
    volatile float a = x;                                                                                              \
    ROUNDED(float, mode, __builtin_sqrtf(a))                                                                           \
  }                                                                                                                    \
  double __nv_dsqrt_##suffix(double x) {                                                                               \
    volatile double a = x;                                                                                             \
    ROUNDED(double, mode, __builtin_sqrt(a))                                                                           \
  }                                                                                                                    \
  float __nv_fmaf_##suffix(float x, float y, float z) {                                                                \
    volatile float a = x, b = y, c = z;                                                                                \
    ROUNDED(float, mode, __builtin_fmaf(a, b, c))                                                                      \
  }                                                                                                                    \
  double __nv_fma_##suffix(double x, double y, double z) {                                                             \
    volatile double a = x, b = y, c = z;                                                                               \
    ROUNDED(double, mode, __builtin_fma(a, b, c))                                                                      \
  }                                                                                                                    \
  CONVERSION(double, double, float, float, suffix, mode)                                                               \
  CONVERSION(int, int32_t, float, float, suffix, mode)                                                                 \
  CONVERSION(ll, int64_t, float, float, suffix, mode)                                                                  \
  CONVERSION(ll, int64_t, double, double, suffix, mode)                                                                \
  UNSIGNED_CONVERSION(uint, uint32_t, float, float, suffix, mode)                                                      \
  UNSIGNED_CONVERSION(ull, uint64_t, float, float, suffix, mode)                                                       \
  UNSIGNED_CONVERSION(ull, uint64_t, double, double, suffix, mode)

ALL(rn, FE_TONEAREST)
ALL(rz, FE_TOWARDZERO)
ALL(rd, FE_DOWNWARD)
ALL(ru, FE_UPWARD)

double __nv_int2double_rn(int32_t x) { return x; }
double __nv_uint2double_rn(uint32_t x) { return x; }
float __nv_frsqrt_rn(float x) { return (float)(1 / sqrtl(x)); }
