// Arithmetic and conversions with a stated rounding: rn to nearest even, rz toward zero, rd down, ru up.
// SPDX-License-Identifier: MIT
//
// Each is rounded to nearest first; the sign of the exact result's difference from that says whether the neighbour is
// meant. Differences are exact by fma or by the two-sum of Knuth, except where they would be below the smallest number:
// operands are scaled there.
#include "compiler/math/library/gpu/Library.h"

enum Rounding { ToNearest, TowardZero, Down, Up };

static inline uint32_t bitsOfSingle(float x) { return __builtin_bit_cast(uint32_t, x); }
static inline float singleOf(uint32_t bits) { return __builtin_bit_cast(float, bits); }

/// The neighbour of x above or below it; x is finite.
static inline float stepSingle(float x, bool isUp) {
  if (x == 0)
    return singleOf(isUp ? 1u : 0x80000001u);
  const bool grows = isUp == !signbit(x);
  return singleOf(bitsOfSingle(x) + (grows ? 1u : ~0u));
}
static inline double stepDouble(double x, bool isUp) {
  if (x == 0)
    return ofBits(isUp ? 1ull : 0x8000000000000001ull);
  const bool grows = isUp == !signbit(x);
  return ofBits(bitsOf(x) + (grows ? 1ull : ~0ull));
}

/// `nearest`, or its neighbour, given the sign of (exact - nearest).
#define DIRECTED(type, step, largest)                                                                                  \
  static type directed_##type(type nearest, int sign, enum Rounding mode) {                                            \
    if (mode == ToNearest || isnan(nearest))                                                                           \
      return nearest;                                                                                                  \
    const bool isNegative = signbit(nearest);                                                                          \
    const bool wantsDown = mode == Down || (mode == TowardZero && !isNegative);                                        \
    if (isinf(nearest)) /* an overflow, where the difference is finite */                                              \
      return sign == 0 || wantsDown == isNegative ? nearest : isNegative ? -largest : largest;                         \
    if (sign == 0 || (sign > 0) == wantsDown)                                                                          \
      return nearest;                                                                                                  \
    return step(nearest, !wantsDown);                                                                                  \
  }
DIRECTED(float, stepSingle, 0x1.fffffep127f)
DIRECTED(double, stepDouble, 0x1.fffffffffffffp1023)

static inline int signOf(double x) { return (x > 0) - (x < 0); }

// f64 holds a product of two f32 exactly; of a sum it holds the rounded value and, by the two-sum, the rest.
static inline double restOfSum(double x, double y, double sum) {
  const double back = sum - x;
  return (x - (sum - back)) + (y - back);
}

/// value + rest, rest below half a unit of value, rounded to f32.
static float toSingle(double value, double rest, enum Rounding mode) {
  float nearest = (float)value;
  if (isinf(value) || isnan(value))
    return nearest;
  const double difference = isinf(nearest) ? -value : value - (double)nearest;
  if (mode == ToNearest && rest != 0 && !isinf(nearest)) {
    // A tie of `value` is none of the exact sum.
    const float other = stepSingle(nearest, difference > 0);
    if (difference != 0 && value - (double)nearest == (double)other - value && (rest > 0) == (difference > 0))
      return other;
    return nearest;
  }
  const int sign = difference != 0 ? signOf(difference) : signOf(rest);
  float result = directed_float(nearest, isinf(nearest) ? -signOf(value) : sign, mode);
  if (result == 0 && value == 0)
    return nearest;
  return result;
}

/// A sum of zeros of both signs, or of opposite numbers, is -0 where it is rounded down.
static inline double signedZero(double sum, double x, double y, enum Rounding mode) {
  if (sum != 0)
    return sum;
  if (x == 0 && y == 0 && signbit(x) == signbit(y))
    return x;
  return mode == Down ? -0.0 : 0.0;
}

static float addSingle(float x, float y, enum Rounding mode) {
  const double sum = (double)x + (double)y;
  if (sum == 0)
    return (float)signedZero(sum, x, y, mode);
  return toSingle(sum, isinf(sum) ? 0 : restOfSum(x, y, sum), mode);
}
static float mulSingle(float x, float y, enum Rounding mode) { return toSingle((double)x * (double)y, 0, mode); }
static float divSingle(float x, float y, enum Rounding mode) {
  const double quotient = (double)x / (double)y;
  if (isinf(quotient) || isnan(quotient) || quotient == 0 || isinf(y))
    return (float)quotient;
  const double rest = fma(-quotient, (double)y, (double)x);
  return toSingle(quotient, signbit(y) ? -rest : rest, mode);
}
static float sqrtSingle(float x, enum Rounding mode) {
  const double root = sqrt((double)x);
  return isnan(root) || isinf(root) || root == 0 ? (float)root : toSingle(root, fma(-root, root, (double)x), mode);
}
static float fmaSingle(float x, float y, float z, enum Rounding mode) {
  const double product = (double)x * (double)y, sum = product + (double)z;
  if (sum == 0)
    return (float)signedZero(sum, product, z, mode);
  return toSingle(sum, isinf(sum) || isnan(sum) ? 0 : restOfSum(product, z, sum), mode);
}

static double addDouble(double x, double y, enum Rounding mode) {
  const double sum = x + y;
  if (sum == 0)
    return signedZero(sum, x, y, mode);
  if (isinf(sum)) // of infinite operands it is exact
    return isinf(x) || isinf(y) ? sum : directed_double(sum, -signOf(sum), mode);
  return directed_double(sum, signOf(restOfSum(x, y, sum)), mode);
}

/// x * y + z with the sign of its rounding error: small numbers are scaled, so that the error is no denormal.
static double fmaDouble(double x, double y, double z, enum Rounding mode) {
  const double nearest = fma(x, y, z);
  if (mode == ToNearest || isnan(nearest) || isinf(x) || isinf(y) || isinf(z))
    return nearest;
  if (isinf(nearest))
    return directed_double(nearest, -signOf(nearest), mode);
  if (nearest == 0 && (x == 0 || y == 0 || z != 0))
    return signedZero(0, x * y, z, mode);
  // The exact rest of x * y + z - nearest has at most three parts; their sum's sign is that of the largest.
  const double scale = 0x1p300, half = 0x1p150;
  const bool isSmall = fabs(nearest) < 0x1p-700;
  const double a = isSmall ? x * half : x, b = isSmall ? y * half : y, c = isSmall ? z * scale : z;
  const double reached = isSmall ? nearest * scale : nearest;
  const double high = a * b, low = fma(a, b, -high);
  const double sum = high + c, error = restOfSum(high, c, sum);
  const double rest = (sum - reached) + (error + low);
  return directed_double(nearest, signOf(rest), mode);
}
static double mulDouble(double x, double y, enum Rounding mode) {
  const double product = x * y;
  if (isinf(x) || isinf(y) || x == 0 || y == 0)
    return product;
  return fmaDouble(x, y, signbit(product) ? -0.0 : 0.0, mode);
}
static double divDouble(double x, double y, enum Rounding mode) {
  const double quotient = x / y;
  if (isnan(quotient) || isinf(x) || isinf(y) || x == 0 || y == 0)
    return quotient;
  if (isinf(quotient))
    return directed_double(quotient, -signOf(quotient), mode);
  // Scaled so that neither the quotient nor the rest leaves the normal range.
  const double up = fabs(x) < 0x1p-500 || fabs(y) < 0x1p-500 ? 0x1p500 : 1, down = fabs(x) > 0x1p500 || fabs(y) > 0x1p500 ? 0x1p-500 : 1;
  const double rest = fma(-quotient, y * up * down, x * up * down);
  return directed_double(quotient, signbit(y) ? -signOf(rest) : signOf(rest), mode);
}
static double sqrtDouble(double x, enum Rounding mode) {
  const double root = sqrt(x);
  if (isnan(root) || isinf(root) || root == 0)
    return root;
  const bool isSmall = x < 0x1p-900;
  const double scaled = isSmall ? root * 0x1p200 : root;
  return directed_double(root, signOf(fma(-scaled, scaled, isSmall ? x * 0x1p400 : x)), mode);
}

static float singleOfDouble(double x, enum Rounding mode) { return toSingle(x, 0, mode); }
/// An integer as the exact sum of two f64.
static float singleOfParts(double high, double low, enum Rounding mode) {
  const double sum = high + low;
  return sum == 0 ? 0.0f : toSingle(sum, restOfSum(high, low, sum), mode);
}
static double doubleOfParts(double high, double low, enum Rounding mode) {
  const double sum = high + low;
  return sum == 0 ? 0.0 : directed_double(sum, signOf(restOfSum(high, low, sum)), mode);
}
static inline double highOf(int64_t x) { return (double)(x >> 32) * 0x1p32; }
static inline double highOfUnsigned(uint64_t x) { return (double)(x >> 32) * 0x1p32; }
static inline double lowOf(uint64_t x) { return (double)(uint32_t)x; }

#define ALL(suffix, mode)                                                                                              \
  float __nv_fadd_##suffix(float x, float y) { return addSingle(x, y, mode); }                                         \
  float __nv_fsub_##suffix(float x, float y) { return addSingle(x, -y, mode); }                                        \
  float __nv_fmul_##suffix(float x, float y) { return mulSingle(x, y, mode); }                                         \
  float __nv_fdiv_##suffix(float x, float y) { return divSingle(x, y, mode); }                                         \
  float __nv_frcp_##suffix(float x) { return divSingle(1, x, mode); }                                                  \
  float __nv_fsqrt_##suffix(float x) { return sqrtSingle(x, mode); }                                                   \
  float __nv_fmaf_##suffix(float x, float y, float z) { return fmaSingle(x, y, z, mode); }                             \
  double __nv_dadd_##suffix(double x, double y) { return addDouble(x, y, mode); }                                      \
  double __nv_dsub_##suffix(double x, double y) { return addDouble(x, -y, mode); }                                     \
  double __nv_dmul_##suffix(double x, double y) { return mulDouble(x, y, mode); }                                      \
  double __nv_ddiv_##suffix(double x, double y) { return divDouble(x, y, mode); }                                      \
  double __nv_drcp_##suffix(double x) { return divDouble(1, x, mode); }                                                \
  double __nv_dsqrt_##suffix(double x) { return sqrtDouble(x, mode); }                                                 \
  double __nv_fma_##suffix(double x, double y, double z) { return fmaDouble(x, y, z, mode); }                          \
  float __nv_double2float_##suffix(double x) { return singleOfDouble(x, mode); }                                       \
  float __nv_int2float_##suffix(int32_t x) { return x ? singleOfDouble(x, mode) : 0.0f; }                              \
  float __nv_uint2float_##suffix(uint32_t x) { return x ? singleOfDouble(x, mode) : 0.0f; }                            \
  float __nv_ll2float_##suffix(int64_t x) { return singleOfParts(highOf(x), lowOf((uint64_t)x), mode); }               \
  float __nv_ull2float_##suffix(uint64_t x) { return singleOfParts(highOfUnsigned(x), lowOf(x), mode); }               \
  double __nv_ll2double_##suffix(int64_t x) { return doubleOfParts(highOf(x), lowOf((uint64_t)x), mode); }             \
  double __nv_ull2double_##suffix(uint64_t x) { return doubleOfParts(highOfUnsigned(x), lowOf(x), mode); }

ALL(rn, ToNearest)
ALL(rz, TowardZero)
ALL(rd, Down)
ALL(ru, Up)

double __nv_int2double_rn(int32_t x) { return x; }
double __nv_uint2double_rn(uint32_t x) { return x; }
float __nv_frsqrt_rn(float x) { return (float)(1 / sqrt((double)x)); }
