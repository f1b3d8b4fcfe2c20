// Error functions and their inverses, normal distribution, gamma and Bessel functions.
// SPDX-License-Identifier: MIT
#include "Library.h"

static const long double rootOfPi = 1.77245385090551602729816748334114518L;

static double lgammaAlone(double x) {
  int sign;
  return lgamma_r(x, &sign);
}
static long double lgammaAlonel(long double x) {
  int sign;
  return lgammal_r(x, &sign);
}
UNARY(lgamma, lgammaAlone, lgammaAlonel)
UNARY(tgamma, tgamma, tgammal)
UNARY(j0, j0, j0l)
UNARY(j1, j1, j1l)
UNARY(y0, y0, y0l)
UNARY(y1, y1, y1l)
ORDER(jn, jn, jnl)
ORDER(yn, yn, ynl)
UNARY(erfc, erfc, erfcl)

// exp(x * x) * erfc(x)
static long double erfcxl(long double x) {
  if (x < 100)
    return expl(x * x) * erfcl(x);
  const long double h = 1 / (2 * x * x); // the asymptotic series; the next term is below 2^-60
  return (1 - h * (1 - 3 * h * (1 - 5 * h * (1 - 7 * h)))) / (x * rootOfPi);
}
UNARY(erfcx, erfcxl, erfcxl)

// Both inverses: Halley's method, which trebles the digits with each step, from an approximation of few.
static long double erfinvNearZero(long double x) {
  long double y = x * rootOfPi / 2;
  for (int step = 0; step < 6; ++step) {
    const long double u = (erfl(y) - x) * rootOfPi / 2 * expl(y * y);
    y -= u / (1 + u * y);
  }
  return y;
}
// For q <= 1/2. The start is formula 26.2.23 of Abramowitz and Stegun.
static long double erfcinvOfTail(long double q) {
  const long double t = sqrtl(-2 * logl(q / 2));
  long double y = t - (2.515517L + t * (0.802853L + t * 0.010328L)) /
                          (1 + t * (1.432788L + t * (0.189269L + t * 0.001308L)));
  y *= 0.707106781186547524400844362104849039L;
  for (int step = 0; step < 4; ++step) {
    const long double u = (q - erfcl(y)) * rootOfPi / 2 * expl(y * y);
    y -= u / (1 + u * y);
  }
  return y;
}
static long double erfcinvl(long double q) {
  if (!(q >= 0 && q <= 2))
    return NAN;
  if (q == 0 || q == 2)
    return q == 0 ? INFINITY : -INFINITY;
  if (q < 0.5L)
    return erfcinvOfTail(q);
  return q > 1.5L ? -erfcinvOfTail(2 - q) : erfinvNearZero(1 - q);
}
static long double erfinvl(long double x) {
  return fabsl(x) <= 0.5L ? erfinvNearZero(x) : copysignl(erfcinvl(1 - fabsl(x)), x);
}
UNARY(erfinv, erfinvl, erfinvl)
UNARY(erfcinv, erfcinvl, erfcinvl)

static const long double rootOfHalf = 0.707106781186547524400844362104849039L;
static long double normcdfl(long double x) { return erfcl(-x * rootOfHalf) / 2; }
static long double normcdfinvl(long double p) { return -erfcinvl(2 * p) / rootOfHalf; }
UNARY(normcdf, normcdfl, normcdfl)
UNARY(normcdfinv, normcdfinvl, normcdfinvl)

// Modified Bessel functions of order 0 and 1: the power series, all of whose terms are positive, then the asymptotic one.
static long double besselSeries(long double x, int order) {
  const long double quarter = x * x / 4;
  long double term = order ? x / 2 : 1, sum = term;
  for (int k = 1; term > sum * 1e-21L; ++k) {
    term *= quarter / ((long double)k * (k + order));
    sum += term;
  }
  return sum;
}
static long double besselAsymptotic(long double x, int order) {
  const long double square = 4.0L * order;
  long double term = 1, sum = 1;
  for (int k = 1; k < 60; ++k) {
    const long double factor = ((2 * k - 1) * (2 * k - 1) - square) / (8 * x * k);
    if (fabsl(term * factor) < 1e-21L || fabsl(factor) >= 1)
      break;
    term *= factor;
    sum += term;
  }
  return expl(x) / sqrtl(2 * 3.14159265358979323846264338327950288L * x) * sum;
}
static long double bessel(long double x, int order) {
  const long double size = fabsl(x);
  if (isinf(size))
    return order ? x : size;
  const long double value = size < 40 ? besselSeries(size, order) : besselAsymptotic(size, order);
  return order ? copysignl(value, x) : value;
}
float __nv_cyl_bessel_i0f(float x) { return (float)bessel(x, 0); }
double __nv_cyl_bessel_i0(double x) { return (double)bessel(x, 0); }
float __nv_cyl_bessel_i1f(float x) { return (float)bessel(x, 1); }
double __nv_cyl_bessel_i1(double x) { return (double)bessel(x, 1); }
