// Declarations shared by the C files of the CPU's function library: libm's names and definition macros.
// SPDX-License-Identifier: MIT
//
// The functions have the names and the results that NVIDIA documents for libdevice. They are compiled to bitcode when
// Nereid is built and linked into the kernels that call them; so they may call libc and libm alone.
#pragma once

#define _GNU_SOURCE
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// f32 is computed in f64, whose error f32 does not show; f64 in libm's f64 where that is within 2 units in the last
// place, and in 80 bits elsewhere.
#define UNARY(name, single, wide)                                                                                      \
  float __nv_##name##f(float x) { return (float)single((double)x); }                                                   \
  double __nv_##name(double x) { return (double)wide(x); }
#define BINARY(name, single, wide)                                                                                     \
  float __nv_##name##f(float x, float y) { return (float)single((double)x, (double)y); }                               \
  double __nv_##name(double x, double y) { return (double)wide(x, y); }
#define ORDER(name, single, wide)                                                                                      \
  float __nv_##name##f(int n, float x) { return (float)single(n, (double)x); }                                         \
  double __nv_##name(int n, double x) { return (double)wide(n, x); }

static inline uint64_t bitsOf(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
static inline double ofBits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
