// Powers, logarithms, circular and hyperbolic functions, norms, remainders.
// SPDX-License-Identifier: MIT
#include "Library.h"

UNARY(tan, tan, tan)
UNARY(sinh, sinh, sinh)
UNARY(cosh, cosh, cosh)
UNARY(asin, asin, asin)
UNARY(acos, acos, acos)
UNARY(atan, atan, atan)
UNARY(asinh, asinh, asinhl)
UNARY(acosh, acosh, acoshl)
UNARY(atanh, atanh, atanhl)
UNARY(exp10, exp10, exp10l)
UNARY(log10, log10, log10)
UNARY(cbrt, cbrt, cbrtl)
UNARY(logb, logb, logb)
BINARY(atan2, atan2, atan2)
BINARY(pow, pow, pow)
BINARY(hypot, hypot, hypot)
BINARY(fmod, fmod, fmod)
BINARY(remainder, remainder, remainder)

static double rcbrt(double x) { return 1 / cbrt(x); }
static long double rcbrtl(long double x) { return 1 / cbrtl(x); }
UNARY(rcbrt, rcbrt, rcbrtl)

static double rhypot(double x, double y) { return 1 / hypot(x, y); }
static long double rhypotl(long double x, long double y) { return 1 / hypotl(x, y); }
BINARY(rhypot, rhypot, rhypotl)

float __nv_powif(float x, int n) { return (float)pow(x, n); }
double __nv_powi(double x, int n) { return pow(x, n); }
float __nv_fdimf(float x, float y) { return fdimf(x, y); }
double __nv_fdim(double x, double y) { return fdim(x, y); }
float __nv_nextafterf(float x, float y) { return nextafterf(x, y); }
double __nv_nextafter(double x, double y) { return nextafter(x, y); }
float __nv_ldexpf(float x, int n) { return ldexpf(x, n); }
double __nv_ldexp(double x, int n) { return ldexp(x, n); }
float __nv_scalbnf(float x, int n) { return scalbnf(x, n); }
double __nv_scalbn(double x, int n) { return scalbn(x, n); }
int __nv_ilogbf(float x) { return ilogbf(x); }
int __nv_ilogb(double x) { return ilogb(x); }

// An infinite component makes the norm infinite even if another one is NaN.
static long double length(long double a, long double b, long double c, long double d) {
  if (isinf(a) || isinf(b) || isinf(c) || isinf(d))
    return INFINITY;
  return sqrtl(a * a + b * b + c * c + d * d);
}
float __nv_norm3df(float a, float b, float c) { return (float)length(a, b, c, 0); }
double __nv_norm3d(double a, double b, double c) { return (double)length(a, b, c, 0); }
float __nv_norm4df(float a, float b, float c, float d) { return (float)length(a, b, c, d); }
double __nv_norm4d(double a, double b, double c, double d) { return (double)length(a, b, c, d); }
float __nv_rnorm3df(float a, float b, float c) { return (float)(1 / length(a, b, c, 0)); }
double __nv_rnorm3d(double a, double b, double c) { return (double)(1 / length(a, b, c, 0)); }
float __nv_rnorm4df(float a, float b, float c, float d) { return (float)(1 / length(a, b, c, d)); }
double __nv_rnorm4d(double a, double b, double c, double d) { return (double)(1 / length(a, b, c, d)); }

// x less the nearest even number is exact, and so is its distance to the nearest half.
static long double ofPi(long double (*function)(long double), long double x) {
  return function(3.14159265358979323846264338327950288L * x);
}
static long double sinpil(long double x) {
  if (isinf(x))
    return NAN;
  const long double r = x - 2 * rintl(x / 2);
  if (r == rintl(r))
    return copysignl(0, x);
  const long double size = fabsl(r) > 0.5L ? 1 - fabsl(r) : fabsl(r);
  return copysignl(size > 0.25L ? ofPi(cosl, 0.5L - size) : ofPi(sinl, size), r);
}
static long double cospil(long double x) {
  if (isinf(x))
    return NAN;
  const long double r = fabsl(x - 2 * rintl(x / 2));
  const long double fromHalf = 0.5L - r;
  return fabsl(fromHalf) <= 0.25L ? ofPi(sinl, fromHalf) : r < 0.5L ? ofPi(cosl, r) : -ofPi(cosl, 1 - r);
}
UNARY(sinpi, sinpil, sinpil)
UNARY(cospi, cospil, cospil)

float __nv_fast_tanf(float x) { return (float)tan(x); }
float __nv_fast_exp10f(float x) { return (float)exp10(x); }
float __nv_fast_log10f(float x) { return (float)log10(x); }
float __nv_fast_powf(float x, float y) { return (float)pow(x, y); }
