// Implements powers, roots and logarithms of other bases.
// SPDX-License-Identifier: MIT
#include "Pair.h"

/// log(x) for finite x > 0, within 2^-70: with s = (m - 1) / (m + 1), log(m) = 2 (s + s^3 / 3 + s^5 / 5 ...).
static Pair logPair(double x) {
  double m;
  int exponent = split(x, &m);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const Pair s = divide(pairOf(m - 1), exactSum(m, 1)), square = multiply(s, s);
  // s^2 <= 0.03: from the sixth term on a double is precise enough.
  const double z = square.high;
  double rest = 1.0 / 25;
  for (int k = 23; k >= 11; k -= 2)
    rest = fma(rest, z, 1.0 / k);
  Pair sum = pairOf(rest);
  for (int k = 9; k >= 3; k -= 2)
    sum = add(multiply(sum, square), over(pairOf(1), k));
  sum = add(multiply(multiply(sum, square), s), s);
  const Pair ln2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
  return add(times(ln2, exponent), times(sum, 2));
}

/// exp(p), also where p.high is outside of exp's finite range.
static double expPair(Pair p) {
  const double high = __nv_exp(p.high);
  return high == 0 || isinf(high) ? high : fma(high, p.low, high);
}

static bool isOdd(double x) { return fabs(x) < 0x1p53 && x == rint(x) && 0.5 * x != rint(0.5 * x); }

/// x^y where x is 1, an operand is zero, infinite or NaN, or x is negative and y no integer.
static bool isRarePower(double x, double y) {
  return x == 0 || y == 0 || x == 1 || !isfinite(x) || !isfinite(y) || (x < 0 && y != rint(y));
}
static double rarePower(double x, double y) {
  if (x == 1 || y == 0)
    return 1;
  if (isnan(x) || isnan(y))
    return x + y;
  const double size = fabs(x);
  if (isinf(y))
    return size == 1 ? 1 : (size > 1) == (y > 0) ? INFINITY : 0;
  if (x != 0 && !isinf(x))
    return NAN;
  const double result = (x == 0) == (y < 0) ? INFINITY : 0;
  return isOdd(y) ? copysign(result, x) : result;
}
static double powOf(double x, double y) {
  if (isRarePower(x, y))
    return rarePower(x, y);
  const Pair log = logPair(fabs(x));
  const double estimate = log.high * y;
  const double size = estimate > 710 ? INFINITY : estimate < -746 ? 0 : expPair(times(log, y));
  return isOdd(y) ? copysign(size, x) : size;
}
/// Computes in f64, whose precision is enough for f32.
static double shortPow(double x, double y) {
  if (isRarePower(x, y))
    return rarePower(x, y);
  const double size = __nv_exp(y * __nv_log(fabs(x)));
  return isOdd(y) ? copysign(size, x) : size;
}
double __nv_pow(double x, double y) { return powOf(x, y); }
float __nv_powf(float x, float y) { return (float)shortPow(x, y); }
float __nv_fast_powf(float x, float y) { return (float)shortPow(x, y); }
double __nv_powi(double x, int32_t n) { return powOf(x, n); }
float __nv_powif(float x, int32_t n) { return (float)shortPow(x, n); }

static double exp10Of(double x) {
  if (!(fabs(x) < 400))
    return isnan(x) ? x : x > 0 ? INFINITY : 0;
  return expPair(times((Pair){0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53}, x));
}
static double log10Of(double x) {
  const double log = __nv_log(x);
  if (!isfinite(log))
    return log;
  return valueOf(times((Pair){0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57}, log));
}
UNARY(exp10, exp10Of)
UNARY(log10, log10Of)
float __nv_fast_exp10f(float x) { return (float)exp10Of(x); }
float __nv_fast_log10f(float x) { return (float)log10Of(x); }

/// Starts with a third of the exponent; each step of Halley's method triples the digits.
static double cbrtOf(double x) {
  if (x == 0 || !isfinite(x))
    return x;
  double scale = 1, size = fabs(x);
  if (size < 0x1p-1000) {
    size *= 0x1p300;
    scale = 0x1p-100;
  }
  double root = ofBits(bitsOf(size) / 3 + 0x2a9f7893782da1ce);
  for (int step = 0; step < 3; ++step) {
    const double cube = root * root * root;
    root *= (cube + 2 * size) / (2 * cube + size);
  }
  const Pair cube = multiply(exactProduct(root, root), pairOf(root));
  root -= ((cube.high - size) + cube.low) / (3 * root * root);
  return copysign(root * scale, x);
}
static double rcbrtOf(double x) { return 1 / cbrtOf(x); }
UNARY(cbrt, cbrtOf)
UNARY(rcbrt, rcbrtOf)
