// Implements error functions and their inverses, the normal distribution, the gamma function.
// SPDX-License-Identifier: MIT
#include "Pair.h"

static const double rootOfPi = 1.77245385090551602729816748334114518;

//--- error functions ------------------------------------------------------------------------

/// (1 + 2 x) exp(x^2) erfc(x) for x >= 0, as a polynomial of (x - 4) / (x + 4), which is within 4e-17.
static double scaledErfc(double x) {
  static const double coefficients[] = {
      0x1.3ba5916e9fd7fp+0,   -0x1.1df1ad154a28ep-3,  0x1.f7f5df66fc17fp-7,   0x1.16ecefcfa5214p-4,
      -0x1.9ddb23c3e0c24p-4,  0x1.7fee004e16d41p-4,   -0x1.0fb06dfee4790p-4,  0x1.3079edf5d9d05p-5,
      -0x1.0962386da3254p-6,  0x1.49c672b9685cep-8,   -0x1.8d4aaa8fbedbcp-11, -0x1.a1df4a1e543bcp-13,
      0x1.3be12bafabe1fp-13,  -0x1.99551e5f87e20p-16, -0x1.78a738afaf645p-17, 0x1.7f01a118598aep-18,
      0x1.400a0021a32f1p-22,  -0x1.b9339da7bf70bp-21, 0x1.31744dd9b56d0p-24,  0x1.cad9b27d6d663p-24,
      -0x1.1904891a069b4p-26, -0x1.af097381d257bp-27, 0x1.afe473b552685p-30,  0x1.0967e527911a9p-30};
  const double t = x > 0x1p60 ? 1 : (x - 4) / (x + 4);
  double sum = coefficients[23];
  for (int i = 22; i >= 0; --i)
    sum = fma(sum, t, coefficients[i]);
  return sum;
}
/// exp(x^2), or exp(-x^2).
static double expOfSquare(double x, bool isNegated) {
  const Pair square = exactProduct(x, x);
  return expPair(isNegated ? negated(square) : square);
}
static double erfcxOf(double x) {
  if (isnan(x))
    return x;
  const double size = fabs(x), scaled = isinf(x) ? 0 : scaledErfc(size) / fma(2, size, 1);
  if (!signbit(x))
    return scaled;
  return size > 27 ? INFINITY : 2 * expOfSquare(size, false) - scaled;
}
static double erfcOf(double x) {
  if (isnan(x))
    return x;
  if (x < 0.5)
    return x < -6 ? 2 : 1 - __nv_erf(x);
  return x > 28 ? 0 : expOfSquare(x, true) * scaledErfc(x) / fma(2, x, 1);
}
UNARY(erfc, erfcOf)
UNARY(erfcx, erfcxOf)

// Both inverses start from an approximation with few digits; each step of Halley's method triples them.
static double erfinvNearZero(double x) {
  double y = x * rootOfPi / 2;
  for (int step = 0; step < 4; ++step) {
    const double u = (__nv_erf(y) - x) * rootOfPi / 2 * expOfSquare(y, false);
    y -= u / fma(u, y, 1);
  }
  return y;
}
// For q <= 1/2. The start is formula 26.2.23 of Abramowitz and Stegun.
static double erfcinvOfTail(double q) {
  const double t = sqrt(-2 * __nv_log(q / 2));
  double y = t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  y *= 0.707106781186547524400844362104849039;
  // erfc itself underflows or loses digits where q is small: q exp(y^2) is compared with erfcx(y).
  for (int step = 0; step < 3; ++step) {
    const double scaled = q * expOfSquare(y, false);
    const double u = (scaled - erfcxOf(y)) * rootOfPi / 2;
    y -= u / fma(u, y, 1);
  }
  return y;
}
static double erfcinvOf(double q) {
  if (!(q >= 0 && q <= 2))
    return NAN;
  if (q == 0 || q == 2)
    return q == 0 ? INFINITY : -INFINITY;
  if (q < 0.5)
    return erfcinvOfTail(q);
  return q > 1.5 ? -erfcinvOfTail(2 - q) : erfinvNearZero(1 - q);
}
static double erfinvOf(double x) {
  return fabs(x) <= 0.5 ? erfinvNearZero(x) : copysign(erfcinvOf(1 - fabs(x)), x);
}
UNARY(erfinv, erfinvOf)
UNARY(erfcinv, erfcinvOf)

/// erfc of -x / sqrt(2); the second half of the pair counts where the tail is small.
static double normcdfOf(double x) {
  if (!isfinite(x))
    return x < 0 ? 0 : x > 0 ? 1 : x;
  if (fabs(x) > 40)
    return x < 0 ? 0 : 1;
  const Pair at = times((Pair){-0x1.6a09e667f3bcdp-1, 0x1.bdd3413b26456p-55}, x);
  const double slope = -2 / rootOfPi * expOfSquare(at.high, true);
  return 0.5 * fma(slope, at.low, erfcOf(at.high));
}
static double normcdfinvOf(double p) { return -1.41421356237309504880 * erfcinvOf(2 * p); }
UNARY(normcdf, normcdfOf)
UNARY(normcdfinv, normcdfinvOf)

//--- gamma ----------------------------------------------------------------------------------

/// Stirling's series is precise from here on.
static const double largeGamma = 20;

/// log(gamma(x)) for x >= 20 without its constant: (x - 1/2) log(x) - x + 1 / (12 x) - 1 / (360 x^3) ...
static Pair stirling(double x) {
  const double z = 1 / (x * x);
  double series = 1.0 / 156;
  series = fma(-z, series, 691.0 / 360360);
  series = fma(-z, series, 1.0 / 1188);
  series = fma(-z, series, 1.0 / 1680);
  series = fma(-z, series, 1.0 / 1260);
  series = fma(-z, series, 1.0 / 360);
  series = fma(-z, series, 1.0 / 12);
  const Pair sum = add(multiply(exactSum(x, -0.5), logPair(x)), pairOf(-x));
  return add(sum, pairOf(series / x));
}
static double tgammaOf(double x) {
  if (isnan(x) || x == 0)
    return 1 / x + x;
  if (x > 172)
    return INFINITY;
  if (x < 0 && (isinf(x) || x == rint(x)))
    return NAN;
  if (x < -184)
    return 0.5 * floor(x) == floor(0.5 * x) ? 0.0 : -0.0;
  // gamma(x) = gamma(x + n) / (x (x + 1) ... (x + n - 1))
  Pair at = pairOf(x), product = pairOf(1);
  double divided = 1;
  while (at.high < largeGamma) {
    product = multiply(product, at);
    if (fabs(product.high) > 0x1p500) {
      divided /= valueOf(product);
      product = pairOf(1);
    }
    at = add(at, pairOf(1));
  }
  const double size = valueOf(at), slope = __nv_log(size); // of log(gamma), to correct for the digits that `size` drops
  Pair log = stirling(size);
  log.low += ((at.high - size) + at.low) * slope;
  const double rootOfTwoPi = 2.50662827463100050242;
  return expPair(log) * rootOfTwoPi * divided / valueOf(product);
}

static Pair lgammaShifted(double x) {
  const Pair halfLogOfTwoPi = {0x1.d67f1c864beb5p-1, -0x1.65b5a1b7ff5dfp-55};
  Pair at = pairOf(x), product = pairOf(1);
  while (at.high < largeGamma) {
    product = multiply(product, at);
    at = add(at, pairOf(1));
  }
  const double size = valueOf(at);
  Pair log = add(stirling(size), halfLogOfTwoPi);
  // The slope is log(x) - 1 / (2 x) minus smaller terms.
  log = add(log, pairOf(((at.high - size) + at.low) * (__nv_log(size) - 0.5 / size)));
  const Pair ofProduct = add(logPair(fabs(product.high)), pairOf(product.low / product.high));
  return add(log, negated(ofProduct));
}
static double lgammaOf(double x) {
  if (isinf(x) || isnan(x))
    return x * x;
  if (x <= 0 && x == rint(x))
    return INFINITY;
  if (x == 1 || x == 2)
    return 0;
  if (x < -largeGamma) // gamma(x) gamma(-x) = -pi / (x sin(pi x))
    return __nv_log(pi / fabs(x * sinpiOf(x))) - valueOf(lgammaShifted(-x));
  if (fabs(x) < 0x1p-60)
    return -__nv_log(fabs(x));
  return x > 0x1p60 ? x * (__nv_log(x) - 1) : valueOf(lgammaShifted(x));
}
UNARY(tgamma, tgammaOf)
UNARY(lgamma, lgammaOf)
