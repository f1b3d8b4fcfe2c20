// Integer functions, and conversions between floats, integers and bits, which are linked into each target's library.
// SPDX-License-Identifier: MIT
#include "Library.h"

int32_t __nv_clz(int32_t x) { return x ? __builtin_clz((uint32_t)x) : 32; }
int32_t __nv_clzll(int64_t x) { return x ? __builtin_clzll((uint64_t)x) : 64; }
int32_t __nv_popc(int32_t x) { return __builtin_popcount((uint32_t)x); }
int32_t __nv_popcll(int64_t x) { return __builtin_popcountll((uint64_t)x); }
int32_t __nv_ffs(int32_t x) { return __builtin_ffs(x); }
int32_t __nv_ffsll(int64_t x) { return __builtin_ffsll(x); }
int32_t __nv_brev(int32_t x) { return (int32_t)__builtin_bitreverse32((uint32_t)x); }
int64_t __nv_brevll(int64_t x) { return (int64_t)__builtin_bitreverse64((uint64_t)x); }
int32_t __nv_mulhi(int32_t x, int32_t y) { return (int32_t)((int64_t)x * y >> 32); }
uint32_t __nv_umulhi(uint32_t x, uint32_t y) { return (uint32_t)((uint64_t)x * y >> 32); }
int64_t __nv_mul64hi(int64_t x, int64_t y) { return (int64_t)((__int128)x * y >> 64); }
uint64_t __nv_umul64hi(uint64_t x, uint64_t y) { return (uint64_t)((unsigned __int128)x * y >> 64); }
int32_t __nv_hadd(int32_t x, int32_t y) { return (int32_t)(((int64_t)x + y) >> 1); }
uint32_t __nv_uhadd(uint32_t x, uint32_t y) { return (uint32_t)(((uint64_t)x + y) >> 1); }
int32_t __nv_rhadd(int32_t x, int32_t y) { return (int32_t)(((int64_t)x + y + 1) >> 1); }
uint32_t __nv_urhadd(uint32_t x, uint32_t y) { return (uint32_t)(((uint64_t)x + y + 1) >> 1); }
uint32_t __nv_usad(uint32_t x, uint32_t y, uint32_t z) { return (x > y ? x - y : y - x) + z; }
int32_t __nv_sad(int32_t x, int32_t y, uint32_t z) {
  return (int32_t)((uint32_t)(x > y ? (int64_t)x - y : (int64_t)y - x) + z);
}
// Products of the low 24 bits.
int32_t __nv_mul24(int32_t x, int32_t y) {
  const int64_t a = (int32_t)((uint32_t)x << 8) >> 8, b = (int32_t)((uint32_t)y << 8) >> 8;
  return (int32_t)(a * b);
}
uint32_t __nv_umul24(uint32_t x, uint32_t y) { return (x & 0xffffff) * (y & 0xffffff); }
// Byte i of the result is the byte of y:x that the low three bits of nibble i of s select.
int32_t __nv_byte_perm(int32_t x, int32_t y, int32_t s) {
  const uint64_t bytes = (uint64_t)(uint32_t)y << 32 | (uint32_t)x;
  uint32_t result = 0;
  for (int i = 0; i < 4; ++i)
    result |= (uint32_t)(bytes >> ((s >> 4 * i & 7) * 8) & 0xff) << 8 * i;
  return (int32_t)result;
}

// PTX ISA, cvt: values out of range become the nearest integer; NaN becomes 0 between 32 bits, else the sign bit alone.
static int64_t toSigned(double x, double least, double beyond, int64_t nan) {
  if (isnan(x))
    return nan;
  return x < least ? (int64_t)least : x >= beyond ? (int64_t)(beyond == 0x1p63 ? INT64_MAX : (int64_t)beyond - 1) : (int64_t)x;
}
static uint64_t toUnsigned(double x, double beyond, uint64_t nan) {
  if (isnan(x))
    return nan;
  return x < 0 ? 0 : x >= beyond ? (beyond == 0x1p64 ? UINT64_MAX : (uint64_t)beyond - 1) : (uint64_t)x;
}
#define TO_INTEGER(suffix, round)                                                                                      \
  int32_t __nv_float2int_##suffix(float x) { return (int32_t)toSigned(round(x), -0x1p31, 0x1p31, 0); }                 \
  int32_t __nv_float2uint_##suffix(float x) { return (int32_t)toUnsigned(round(x), 0x1p32, 0); }                       \
  int64_t __nv_float2ll_##suffix(float x) { return toSigned(round(x), -0x1p63, 0x1p63, INT64_MIN); }                   \
  int64_t __nv_float2ull_##suffix(float x) { return (int64_t)toUnsigned(round(x), 0x1p64, (uint64_t)1 << 63); }        \
  int32_t __nv_double2int_##suffix(double x) { return (int32_t)toSigned(round(x), -0x1p31, 0x1p31, INT32_MIN); }       \
  int32_t __nv_double2uint_##suffix(double x) { return (int32_t)toUnsigned(round(x), 0x1p32, (uint64_t)1 << 31); }     \
  int64_t __nv_double2ll_##suffix(double x) { return toSigned(round(x), -0x1p63, 0x1p63, INT64_MIN); }                 \
  int64_t __nv_double2ull_##suffix(double x) { return (int64_t)toUnsigned(round(x), 0x1p64, (uint64_t)1 << 63); }
TO_INTEGER(rn, rint)
TO_INTEGER(rz, trunc)
TO_INTEGER(rd, floor)
TO_INTEGER(ru, ceil)
int64_t __nv_llrintf(float x) { return __nv_float2ll_rn(x); }
int64_t __nv_llrint(double x) { return __nv_double2ll_rn(x); }
int64_t __nv_llroundf(float x) { return toSigned(round(x), -0x1p63, 0x1p63, INT64_MIN); }
int64_t __nv_llround(double x) { return toSigned(round(x), -0x1p63, 0x1p63, INT64_MIN); }

int32_t __nv_double2loint(double x) { return (int32_t)bitsOf(x); }
int32_t __nv_double2hiint(double x) { return (int32_t)(bitsOf(x) >> 32); }
double __nv_hiloint2double(int32_t high, int32_t low) { return ofBits((uint64_t)(uint32_t)high << 32 | (uint32_t)low); }
double __nv_rcp64h(double x) { return ofBits(bitsOf(1 / x) & 0xffffffff00000000); }
int32_t __nv_signbitf(float x) { return signbit(x) != 0; }
int32_t __nv_signbitd(double x) { return signbit(x) != 0; }
int32_t __nv_isnanf(float x) { return isnan(x); }
int32_t __nv_isnand(double x) { return isnan(x); }
int32_t __nv_isinff(float x) { return isinf(x) != 0; }
int32_t __nv_isinfd(double x) { return isinf(x) != 0; }
int32_t __nv_finitef(float x) { return isfinite(x); }
int32_t __nv_isfinited(double x) { return isfinite(x); }
float __nv_saturatef(float x) { return x > 0 ? (x < 1 ? x : 1) : 0; }
