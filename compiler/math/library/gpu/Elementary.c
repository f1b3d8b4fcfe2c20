// Implements circular and hyperbolic functions and their inverses, norms, remainders, parts of numbers.
// SPDX-License-Identifier: MIT
#include "Library.h"

static const double pi = 0x1.921fb54442d18p+1, piRest = 0x1.1a62633145c07p-53;
static const double ln2 = 0x1.62e42fefa39efp-1;

//--- hyperbolic -----------------------------------------------------------------------------

/// exp(x) / 2, finite also where exp(x) alone overflows.
static double halfExp(double x) {
  if (x < 700)
    return 0.5 * __nv_exp(x);
  const double root = __nv_exp(0.5 * x);
  return 0.5 * root * root;
}
static double sinhOf(double x) {
  const double size = fabs(x);
  double result;
  if (size < 1) {
    const double less = __nv_expm1(size);
    result = 0.5 * (less + less / (less + 1));
  } else {
    const double half = halfExp(size);
    result = half - 0.25 / half;
  }
  return copysign(result, x);
}
static double coshOf(double x) {
  const double half = halfExp(fabs(x));
  return half + 0.25 / half;
}
static double asinhOf(double x) {
  const double size = fabs(x);
  double result;
  if (size < 0x1p-28)
    return x;
  if (size > 0x1p28)
    result = __nv_log(size) + ln2;
  else
    result = __nv_log1p(size + size * size / (1 + sqrt(fma(size, size, 1))));
  return copysign(result, x);
}
static double acoshOf(double x) {
  if (x > 0x1p28)
    return __nv_log(x) + ln2;
  const double more = x - 1;
  return __nv_log1p(more + sqrt(fma(more, more, 2 * more)));
}
static double atanhOf(double x) {
  const double size = fabs(x);
  return copysign(0.5 * __nv_log1p(2 * size / (1 - size)), x);
}
UNARY(sinh, sinhOf)
UNARY(cosh, coshOf)
UNARY(asinh, asinhOf)
UNARY(acosh, acoshOf)
UNARY(atanh, atanhOf)

//--- circular -------------------------------------------------------------------------------

static double tanOf(double x) { return __nv_sin(x) / __nv_cos(x); }

/// For |x| <= tan(pi / 8): (atan(x) / x - 1) / x^2 as a polynomial of x^2, which is within 4e-18.
static double smallAtan(double x) {
  static const double coefficients[] = {
      -0x1.5555555555555p-2, 0x1.9999999999952p-3, -0x1.249249248d739p-3, 0x1.c71c71c2fc236p-4,
      -0x1.745d165c497f3p-4, 0x1.3b1392a9c2d8bp-4, -0x1.110e84aa36d9dp-4, 0x1.e199c62156609p-5,
      -0x1.ac7858539e493p-5, 0x1.74d3a7b43351ap-5, -0x1.1b1992aa413c9p-5, 0x1.0a997ba33c1dbp-6};
  const double square = x * x;
  double sum = coefficients[11];
  for (int i = 10; i >= 0; --i)
    sum = fma(sum, square, coefficients[i]);
  return fma(x * square, sum, x);
}
/// Arc tangent for 0 <= x <= 1.
static double atanToOne(double x) {
  if (x <= 0.4142135623730950488)
    return smallAtan(x);
  return pi / 4 + (smallAtan((x - 1) / (x + 1)) + piRest / 4);
}
/// The angle of a point with non-negative coordinates.
static double angleOf(double x, double y) {
  if (y <= x)
    return y == 0 ? 0 : isinf(y) ? pi / 4 : atanToOne(y / x);
  return pi / 2 - (atanToOne(x / y) - piRest / 2);
}
static double atanOf(double x) { return isnan(x) ? x : copysign(angleOf(1, fabs(x)), x); }
static double atan2Of(double y, double x) {
  if (isnan(x) || isnan(y))
    return x + y;
  const double size = angleOf(fabs(x), fabs(y));
  return copysign(signbit(x) ? pi - (size - piRest) : size, y);
}
static double asinOf(double x) {
  const double size = fabs(x);
  if (!(size <= 1))
    return NAN;
  return copysign(angleOf(sqrt((1 - size) * (1 + size)), size), x);
}
static double acosOf(double x) {
  if (!(fabs(x) <= 1))
    return NAN;
  return 2 * angleOf(sqrt(1 + x), sqrt(1 - x));
}
UNARY(tan, tanOf)
UNARY(atan, atanOf)
UNARY(asin, asinOf)
UNARY(acos, acosOf)
BINARY(atan2, atan2Of)

// x minus the nearest even number is exact, and so is its distance to the nearest half.
static double sinpiOf(double x) {
  if (isinf(x))
    return NAN;
  const double r = x - 2 * rint(0.5 * x);
  if (r == rint(r))
    return copysign(0, x);
  const double size = fabs(r) > 0.5 ? 1 - fabs(r) : fabs(r);
  return copysign(size > 0.25 ? __nv_cos(pi * (0.5 - size)) : __nv_sin(pi * size), r);
}
static double cospiOf(double x) {
  if (isinf(x))
    return NAN;
  const double r = fabs(x - 2 * rint(0.5 * x)), fromHalf = 0.5 - r;
  if (fabs(fromHalf) <= 0.25)
    return __nv_sin(pi * fromHalf);
  return r < 0.5 ? __nv_cos(pi * r) : -__nv_cos(pi * (1 - r));
}
UNARY(sinpi, sinpiOf)
UNARY(cospi, cospiOf)
float __nv_fast_tanf(float x) { return (float)tanOf(x); }

//--- parts of numbers -----------------------------------------------------------------------

/// The exponent of a finite non-zero number; `mantissa` is in [1, 2), with the sign.
static int split(double x, double *mantissa) {
  int exponent = (int)(bitsOf(x) >> 52 & 0x7ff);
  int less = 1023;
  if (exponent == 0) {
    x *= 0x1p54;
    exponent = (int)(bitsOf(x) >> 52 & 0x7ff);
    less += 54;
  }
  *mantissa = ofBits((bitsOf(x) & 0x800fffffffffffff) | (uint64_t)1023 << 52);
  return exponent - less;
}
static double powerOfTwo(int exponent) { return ofBits((uint64_t)(exponent + 1023) << 52); }
static double ldexpOf(double x, int32_t n) {
  if (x == 0 || !isfinite(x))
    return x;
  double mantissa;
  const int64_t exponent = (int64_t)split(x, &mantissa) + n;
  if (exponent > 1023)
    return copysign(INFINITY, x);
  if (exponent >= -1022)
    return mantissa * powerOfTwo((int)exponent);
  if (exponent < -1075)
    return copysign(0, x);
  return mantissa * 0x1p-1022 * powerOfTwo((int)exponent + 1022); // rounded once
}
float __nv_ldexpf(float x, int32_t n) { return (float)ldexpOf(x, n); }
double __nv_ldexp(double x, int32_t n) { return ldexpOf(x, n); }
float __nv_scalbnf(float x, int32_t n) { return (float)ldexpOf(x, n); }
double __nv_scalbn(double x, int32_t n) { return ldexpOf(x, n); }

int32_t __nv_ilogb(double x) {
  double mantissa;
  return x == 0 || isnan(x) ? INT32_MIN : isinf(x) ? INT32_MAX : split(x, &mantissa);
}
int32_t __nv_ilogbf(float x) { return __nv_ilogb(x); }
static double logbOf(double x) {
  double mantissa;
  return x == 0 ? -INFINITY : isfinite(x) ? split(x, &mantissa) : x * x;
}
UNARY(logb, logbOf)

// Adjacent floats have adjacent bit patterns.
double __nv_nextafter(double x, double y) {
  if (isnan(x) || isnan(y))
    return x + y;
  if (x == y)
    return y;
  if (x == 0)
    return copysign(0x1p-1074, y);
  return ofBits(bitsOf(x) + ((x < y) == (x > 0) ? 1 : -1));
}
float __nv_nextafterf(float x, float y) {
  if (isnan(x) || isnan(y))
    return x + y;
  if (x == y)
    return y;
  if (x == 0)
    return __builtin_copysignf(0x1p-149f, y);
  const uint32_t bits = __builtin_bit_cast(uint32_t, x);
  return __builtin_bit_cast(float, bits + ((x < y) == (x > 0) ? 1 : -1));
}

//--- differences, remainders ----------------------------------------------------------------

float __nv_fdimf(float x, float y) { return isnan(x) || isnan(y) ? x + y : x > y ? x - y : 0; }
double __nv_fdim(double x, double y) { return isnan(x) || isnan(y) ? x + y : x > y ? x - y : 0; }

/// x minus the multiple of y that is nearest to x; on a tie, the even one.
static double remainderOf(double x, double y) {
  const double size = fabs(y);
  if (isnan(x) || isnan(y) || isinf(x) || y == 0)
    return NAN;
  if (isinf(y))
    return x;
  double rest = size <= 0x1p1022 ? __nv_fmod(fabs(x), 2 * size) : fabs(x);
  if (size < 1 ? rest + rest > size : rest > 0.5 * size) {
    rest -= size;
    if (size < 1 ? rest + rest >= size : rest >= 0.5 * size)
      rest -= size;
  }
  if (rest == 0)
    return copysign(0, x);
  return signbit(x) ? -rest : rest;
}
BINARY(remainder, remainderOf)

//--- norms ----------------------------------------------------------------------------------

/// The length times `*scale`.
static double scaledLength(double a, double b, double c, double d, double *scale) {
  const double ab = __builtin_fmax(fabs(a), fabs(b)), cd = __builtin_fmax(fabs(c), fabs(d));
  const double largest = __builtin_fmax(ab, cd);
  *scale = largest > 0x1p500 ? 0x1p-600 : largest < 0x1p-400 ? 0x1p600 : 1;
  a *= *scale, b *= *scale, c *= *scale, d *= *scale;
  return sqrt(fma(a, a, fma(b, b, fma(c, c, d * d))));
}
// With an infinity the length is infinite, even beside a NaN.
static double length(double a, double b, double c, double d) {
  if (isinf(a) || isinf(b) || isinf(c) || isinf(d))
    return INFINITY;
  double scale;
  const double scaled = scaledLength(a, b, c, d, &scale);
  return scaled / scale;
}
static double inverseLength(double a, double b, double c, double d) {
  if (isinf(a) || isinf(b) || isinf(c) || isinf(d))
    return 0;
  double scale;
  const double scaled = scaledLength(a, b, c, d, &scale);
  return 1 / scaled * scale;
}
static double hypotOf(double x, double y) { return length(x, y, 0, 0); }
static double rhypotOf(double x, double y) { return inverseLength(x, y, 0, 0); }
BINARY(hypot, hypotOf)
BINARY(rhypot, rhypotOf)
double __nv_norm3d(double a, double b, double c) { return length(a, b, c, 0); }
double __nv_norm4d(double a, double b, double c, double d) { return length(a, b, c, d); }
double __nv_rnorm3d(double a, double b, double c) { return inverseLength(a, b, c, 0); }
double __nv_rnorm4d(double a, double b, double c, double d) { return inverseLength(a, b, c, d); }
float __nv_norm3df(float a, float b, float c) { return (float)length(a, b, c, 0); }
float __nv_norm4df(float a, float b, float c, float d) { return (float)length(a, b, c, d); }
float __nv_rnorm3df(float a, float b, float c) { return (float)inverseLength(a, b, c, 0); }
float __nv_rnorm4df(float a, float b, float c, float d) { return (float)inverseLength(a, b, c, d); }
