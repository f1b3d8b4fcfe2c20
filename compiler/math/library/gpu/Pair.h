// Implements double-double numbers: sums of two doubles, the second below the last bit of the first.
// SPDX-License-Identifier: MIT
#pragma once

#include "Library.h"

typedef struct {
  double high, low;
} Pair;

/// a + b exactly.
static inline Pair exactSum(double a, double b) {
  const double sum = a + b, shown = sum - a;
  return (Pair){sum, (a - (sum - shown)) + (b - shown)};
}
/// The same for |a| >= |b|.
static inline Pair orderedSum(double a, double b) {
  const double sum = a + b;
  return (Pair){sum, b - (sum - a)};
}
/// a * b exactly, except for underflow.
static inline Pair exactProduct(double a, double b) {
  const double product = a * b;
  return (Pair){product, fma(a, b, -product)};
}
static inline Pair pairOf(double a) { return (Pair){a, 0}; }
static inline Pair negated(Pair a) { return (Pair){-a.high, -a.low}; }
static inline double valueOf(Pair a) { return a.high + a.low; }

static inline Pair add(Pair a, Pair b) {
  const Pair high = exactSum(a.high, b.high), low = exactSum(a.low, b.low);
  const Pair sum = orderedSum(high.high, high.low + low.high);
  return orderedSum(sum.high, sum.low + low.low);
}
static inline Pair multiply(Pair a, Pair b) {
  const Pair product = exactProduct(a.high, b.high);
  return orderedSum(product.high, product.low + fma(a.high, b.low, a.low * b.high));
}
static inline Pair times(Pair a, double b) {
  const Pair product = exactProduct(a.high, b);
  return orderedSum(product.high, fma(a.low, b, product.low));
}
static inline Pair divide(Pair a, Pair b) {
  const double first = a.high / b.high;
  const Pair rest = add(a, negated(times(b, first)));
  const double second = rest.high / b.high;
  return orderedSum(first, second);
}
static inline Pair over(Pair a, double b) { return divide(a, pairOf(b)); }
