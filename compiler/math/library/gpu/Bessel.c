// Implements Bessel functions: power series in pairs, since terms cancel; asymptotic series for large arguments.
// SPDX-License-Identifier: MIT
#include "Pair.h"

/// Below this the terms of the power series cancel 13 of a pair's 31 digits; from here on the asymptotic series has 21.
static const double largeBessel = 25;

//--- power series ---------------------------------------------------------------------------

/// The sum over k of (sign q)^k / (k! (k + n)!) * n! * first, with q = (x / 2)^2.
static Pair besselSeries(double x, int n, double sign, Pair first) {
  const Pair q = times(exactProduct(0.5 * x, 0.5 * x), sign);
  Pair term = first, sum = first;
  for (int k = 1; k < 500 && fabs(term.high) > 1e-32 * fabs(sum.high) + 1e-300; ++k) {
    term = over(multiply(term, q), (double)k * ((double)k + n));
    sum = add(sum, term);
  }
  return sum;
}
/// (x / 2)^n / n!
static Pair besselStart(double x, int n) {
  Pair start = pairOf(1);
  for (int k = 1; k <= n && start.high != 0; ++k)
    start = over(times(start, 0.5 * x), k);
  return start;
}
static Pair jSeries(double x, int n) { return besselSeries(x, n, -1, besselStart(x, n)); }

static const Pair eulerGamma = {0x1.2788cfc6fb619p-1, -0x1.6cb90701fbfabp-58};
static const Pair twoOverPi = {0x1.45f306dc9c883p-1, -0x1.6b01ec5417056p-55};

/// Y of order 0 or 1 by its logarithm and a series with harmonic numbers.
static Pair ySeries(double x, int n) {
  const Pair q = times(exactProduct(0.5 * x, 0.5 * x), -1);
  Pair term = besselStart(x, n), harmonic = pairOf(n), sum = times(term, n); // H_k + H_(k + n)
  for (int k = 1; k < 200; ++k) {
    term = over(multiply(term, q), (double)k * ((double)k + n));
    harmonic = add(harmonic, add(over(pairOf(1), k), over(pairOf(1), k + n)));
    const Pair next = multiply(term, harmonic);
    sum = add(sum, next);
    if (fabs(next.high) < 1e-32 * fabs(sum.high))
      break;
  }
  const Pair log = add(logPair(0.5 * x), eulerGamma);
  Pair result = add(multiply(log, jSeries(x, n)), times(sum, -0.5));
  if (n == 1)
    result = add(result, over(pairOf(-1), x));
  return multiply(twoOverPi, result);
}

//--- asymptotic series ----------------------------------------------------------------------

typedef struct {
  double j, y;
} Both;

/// J and Y of order 0 or 1 for x >= 25: sqrt(2 / (pi x)) (P cos - Q sin, P sin + Q cos) of x - n pi / 2 - pi / 4.
static Both besselLarge(double x, int n) {
  if (isinf(x))
    return (Both){0, 0};
  double p = 1, q = 0, term = 1;
  for (int k = 1; k < 40; ++k) {
    const double odd = 2 * k - 1, factor = (4.0 * n - odd * odd) / (8.0 * k * x);
    if (fabs(factor) >= 1 || fabs(term) < 1e-20)
      break;
    term *= factor;
    // Signs go + + - - ...
    *(k % 2 ? &q : &p) += k / 2 % 2 ? -term : term;
  }
  const double sine = __nv_sin(x), cosine = __nv_cos(x), sum = sine + cosine, difference = sine - cosine;
  const double cosAngle = n ? difference : sum, sinAngle = n ? -sum : difference; // times sqrt(2)
  const double size = 1 / sqrt(pi * x);
  return (Both){size * (p * cosAngle - q * sinAngle), size * (p * sinAngle + q * cosAngle)};
}

//--- functions ------------------------------------------------------------------------------

/// J of order n >= 0 for x >= 0.
static double jOf(int n, double x) {
  if (x < largeBessel || n > x)
    return valueOf(jSeries(x, n));
  double before = besselLarge(x, 0).j, now = besselLarge(x, 1).j;
  if (n == 0)
    return before;
  for (int k = 1; k < n; ++k) {
    const double next = 2 * k / x * now - before;
    before = now;
    now = next;
  }
  return now;
}
static double yOf(int n, double x) {
  const bool isLarge = x >= largeBessel;
  Pair before = isLarge ? pairOf(besselLarge(x, 0).y) : ySeries(x, 0);
  if (n == 0)
    return valueOf(before);
  Pair now = isLarge ? pairOf(besselLarge(x, 1).y) : ySeries(x, 1);
  for (int k = 1; k < n && isfinite(now.high); ++k) {
    const Pair next = add(over(times(now, 2 * k), x), negated(before));
    before = now;
    now = next;
  }
  return isfinite(now.high) ? valueOf(now) : now.high < 0 ? -INFINITY : INFINITY;
}
/// The sign for order -n, or for -x, is (-1)^n.
static double jnOf(int32_t n, double x) {
  if (isnan(x))
    return x;
  const bool isOddOrder = n % 2 != 0, flips = isOddOrder && (n < 0) != (x < 0);
  const double result = jOf(n < 0 ? -n : n, fabs(x));
  return flips ? -result : result;
}
static double ynOf(int32_t n, double x) {
  if (!(x >= 0))
    return NAN;
  const bool flips = n < 0 && n % 2 != 0;
  const double result = x == 0 ? -INFINITY : yOf(n < 0 ? -n : n, x);
  return flips ? -result : result;
}
static double j0Of(double x) { return jnOf(0, x); }
static double j1Of(double x) { return jnOf(1, x); }
static double y0Of(double x) { return ynOf(0, x); }
static double y1Of(double x) { return ynOf(1, x); }
UNARY(j0, j0Of)
UNARY(j1, j1Of)
UNARY(y0, y0Of)
UNARY(y1, y1Of)
ORDER(jn, jnOf)
ORDER(yn, ynOf)

// Modified functions of order 0 and 1, without cancellation.
static double iLarge(double x, int n) {
  double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const double odd = 2 * k - 1, factor = (odd * odd - 4.0 * n) / (8.0 * k * x);
    if (fabs(term * factor) < 1e-21 || fabs(factor) >= 1)
      break;
    term *= factor;
    sum += term;
  }
  const double half = __nv_exp(0.5 * x); // exp(x) may overflow where the result does not
  return half * (sum / sqrt(2 * pi * x)) * half;
}
static double iOf(double x, int n) {
  const double size = fabs(x);
  if (isnan(x) || isinf(x))
    return n ? x : x * x;
  const double value = size < 40 ? valueOf(besselSeries(size, n, 1, besselStart(size, n))) : iLarge(size, n);
  return n ? copysign(value, x) : value;
}
static double i0Of(double x) { return iOf(x, 0); }
static double i1Of(double x) { return iOf(x, 1); }
UNARY(cyl_bessel_i0, i0Of)
UNARY(cyl_bessel_i1, i1Of)
