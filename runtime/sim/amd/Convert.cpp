// Conversions between float32 and the formats of 8 bits, and to pairs of float16.
// SPDX-License-Identifier: MIT
//
//   amd.cvt_pk.e4m3fnuz d, a, b, old, half           two floats to the low or high half of a register
//   amd.cvt_sr.e4m3fnuz d, a, random, old, byte      rounded by random bits
//   amd.cvt_float.e4m3fnuz d, bits, byte             to float32
//   amd.cvt_pkrtz d, a, b                            to float16, rounded to zero
#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/machine/Decode.h"
#include "runtime/sim/machine/Formats.h"

using namespace nereid::sim;

template <const Format &To> static uint32_t packPair(float a, float b, uint32_t old, uint32_t half) {
  const uint32_t pair = uint32_t(encode(a, To, Rounding::Nearest) | encode(b, To, Rounding::Nearest) << 8);
  return half & 1 ? (old & 0xffff) | pair << 16 : (old & 0xffff0000) | pair;
}

/// The random bits below the last bit of the result are added, then the rest is cut off.
template <const Format &To> static uint32_t roundRandomly(float a, uint32_t random, uint32_t old, uint32_t byte) {
  const int smallest = 1 - To.bias(), exponent = std::isfinite(a) && a != 0 ? std::ilogb(a) : 0;
  const double unit = std::ldexp(1.0, std::max(exponent, smallest) - int(To.mantissaBits));
  const double added = std::isfinite(a) ? double{a} + std::copysign(unit * (random * 0x1p-32), double{a}) : double{a};
  const uint32_t shift = (byte & 3) * 8, bits = uint32_t(encode(added, To, Rounding::Zero));
  return (old & ~(255u << shift)) | bits << shift;
}

template <const Format &From> static float toSingle(uint32_t bits, uint32_t byte) {
  return float(decode(bits >> (byte & 3) * 8 & 255, From));
}

static uint32_t packHalves(float a, float b) {
  return uint32_t(encode(a, kF16, Rounding::Zero) | encode(b, kF16, Rounding::Zero) << 16);
}

template <const Format &F> static void decodeWith(Decoder &decoder) {
  if (decoder.take("cvt_pk"))
    return decoder.lanes<&packPair<F>>();
  if (decoder.take("cvt_sr"))
    return decoder.lanes<&roundRandomly<F>>();
  decoder.take("cvt_float");
  decoder.lanes<&toSingle<F>>();
}

void nereid::sim::decodeAmdConversion(Decoder &decoder) {
  if (decoder.take("cvt_pkrtz"))
    return decoder.lanes<&packHalves>();
  static constexpr std::pair<const char *, Decode> formats[] = {{"e4m3", &decodeWith<kE4m3>},
                                                                {"e5m2", &decodeWith<kE5m2>},
                                                                {"e4m3fnuz", &decodeWith<kE4m3fnuz>},
                                                                {"e5m2fnuz", &decodeWith<kE5m2fnuz>}};
  for (auto [name, decode] : formats)
    if (decoder.take(name))
      return decode(decoder);
  decoder.fail("this format is not known");
}
