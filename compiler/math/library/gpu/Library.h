// Shares names of instructions, bit casts and definition macros among the C files of the GPU function library.
// SPDX-License-Identifier: MIT
//
// The functions have the names and the results that NVIDIA documents for libdevice. They are compiled to bitcode when
// Nereid is built and linked into the kernels that call them. There is no libm: the elementary functions declared here
// get the code that kernels inline.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isnan(x) __builtin_isnan(x)
#define isinf(x) __builtin_isinf(x)
#define isfinite(x) __builtin_isfinite(x)
#define signbit(x) __builtin_signbit(x)
#define fabs __builtin_fabs
#define fma __builtin_fma
#define sqrt __builtin_sqrt
#define rint __builtin_rint
#define round __builtin_round
#define trunc __builtin_trunc
#define floor __builtin_floor
#define ceil __builtin_ceil
#define copysign __builtin_copysign

double __nv_exp(double x);
double __nv_expm1(double x);
double __nv_log(double x);
double __nv_log1p(double x);
double __nv_sin(double x);
double __nv_cos(double x);
double __nv_erf(double x);
double __nv_fmod(double x, double y);

static inline uint64_t bitsOf(double x) { return __builtin_bit_cast(uint64_t, x); }
static inline double ofBits(uint64_t bits) { return __builtin_bit_cast(double, bits); }

// f32 functions are computed in f64, whose error is below f32's precision.
#define UNARY(name, function)                                                                                          \
  float __nv_##name##f(float x) { return (float)function((double)x); }                                                 \
  double __nv_##name(double x) { return function(x); }
#define BINARY(name, function)                                                                                         \
  float __nv_##name##f(float x, float y) { return (float)function((double)x, (double)y); }                             \
  double __nv_##name(double x, double y) { return function(x, y); }
#define ORDER(name, function)                                                                                          \
  float __nv_##name##f(int32_t n, float x) { return (float)function(n, (double)x); }                                   \
  double __nv_##name(int32_t n, double x) { return function(n, x); }
