// Floating-point arithmetic with its modifiers: rounding, ftz, sat, relu, NaN, and the approximations.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Opcodes.h"

#include <cfenv>
#include <cmath>

using namespace nereid::sim;

namespace {
/// f32 and f64; results that are NaN have the canonical bits for f32.
template <typename T, bool Ftz, bool Sat> struct FloatOps {
  static T flushed(T a) {
    if constexpr (Ftz && sizeof(T) == 4) {
      const uint32_t bits = std::bit_cast<uint32_t>(a);
      return std::bit_cast<T>(bits & 0x7f800000 ? bits : bits & 0x80000000);
    }
    return a;
  }
  static T finish(T a) {
    a = flushed(a);
    if constexpr (Sat)
      return a > 0 ? a < 1 ? a : T(1) : T(0); // NaN becomes 0
    if constexpr (sizeof(T) == 4)
      return a != a ? std::bit_cast<T>(0x7fffffff) : a;
    return a;
  }
  static T add(T a, T b) { return finish(flushed(a) + flushed(b)); }
  static T sub(T a, T b) { return finish(flushed(a) - flushed(b)); }
  static T mul(T a, T b) { return finish(flushed(a) * flushed(b)); }
  static T div(T a, T b) { return finish(flushed(a) / flushed(b)); }
  static T fma(T a, T b, T c) { return finish(std::fma(flushed(a), flushed(b), flushed(c))); }
  static T sqrt(T a) { return finish(std::sqrt(flushed(a))); }
  static T reciprocal(T a) { return finish(T(1) / flushed(a)); }
  static T abs(T a) { return flushed(std::fabs(a)); }
  static T neg(T a) { return flushed(-a); }
  static T inverseRoot(T a) { return finish(T(1 / std::sqrt(double(flushed(a))))); }
  static T sine(T a) { return finish(T(std::sin(double(flushed(a))))); }
  static T cosine(T a) { return finish(T(std::cos(double(flushed(a))))); }
  static T logarithm(T a) { return finish(T(std::log2(double(flushed(a))))); }
  static T tangent(T a) { return finish(T(std::tanh(double(flushed(a))))); }
  /// Reduction to [-1/2, 1/2], Taylor's series in double, and the exponent added to the bits: no error in a float.
  static T power2(T a) {
    double x = flushed(a);
    x = x > 200 ? 200 : x < -200 ? -200 : x;
    const double shifted = x + 0x1.8p52, whole = shifted - 0x1.8p52, rest = (x - whole) * 0.693147180559945309;
    double sum = 1.0 / 40320;
    for (double factor : {1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 0.5, 1.0, 1.0})
      sum = sum * rest + factor;
    const uint64_t exponent = (std::bit_cast<uint64_t>(shifted) + 1023) << 52;
    return finish(a != a ? a : T(sum * std::bit_cast<double>(exponent)));
  }
};

template <typename T> struct HalfOps {
  static T add(T a, T b) { return fromFloat<T>(toFloat(a) + toFloat(b)); }
  static T sub(T a, T b) { return fromFloat<T>(toFloat(a) - toFloat(b)); }
  static T mul(T a, T b) { return fromFloat<T>(toFloat(a) * toFloat(b)); }
  static T fma(T a, T b, T c) { return fusedProduct(a, b, c); }
  static T clamped(T a) {
    const float value = toFloat(a);
    return fromFloat<T>(value > 0 ? value < 1 ? value : 1 : 0);
  }
  static T relu(T a) { return toFloat(a) < 0 || a.bits == 0x8000 ? T{0} : a; }
  static T addSat(T a, T b) { return clamped(add(a, b)); }
  static T subSat(T a, T b) { return clamped(sub(a, b)); }
  static T mulSat(T a, T b) { return clamped(mul(a, b)); }
  static T fmaSat(T a, T b, T c) { return clamped(fma(a, b, c)); }
  static T fmaRelu(T a, T b, T c) { return relu(fma(a, b, c)); }
  static T abs(T a) { return {uint16_t(a.bits & 0x7fff)}; }
  static T neg(T a) { return {uint16_t(a.bits ^ 0x8000)}; }
  static T power2(T a) { return fromFloat<T>(std::exp2(toFloat(a))); }
  static T tangent(T a) { return fromFloat<T>(std::tanh(toFloat(a))); }
};

inline float toFloat(float value) { return value; }
inline double toFloat(double value) { return value; }
using nereid::sim::toFloat;

template <typename T> T canonicalNan() {
  if constexpr (sizeof(T) == 2)
    return T{0x7fff};
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<float>(0x7fffffff);
  else
    return std::bit_cast<double>(0x7fffffffffffffff);
}
/// -0 is below +0. With `Nan` a NaN wins, otherwise the number does.
template <typename T, bool IsMax, bool Nan, bool Ftz> T extremum(T a, T b) {
  if constexpr (std::is_same_v<T, float>)
    a = FloatOps<T, Ftz, false>::flushed(a), b = FloatOps<T, Ftz, false>::flushed(b);
  const auto x = toFloat(a), y = toFloat(b);
  const bool isNanX = x != x, isNanY = y != y;
  if constexpr (Nan) {
    if (isNanX || isNanY)
      return canonicalNan<T>();
  } else {
    if (isNanX)
      return isNanY ? canonicalNan<T>() : b;
    if (isNanY)
      return a;
  }
  if (x == y)
    return std::signbit(x) == IsMax ? b : a;
  return (x < y) == IsMax ? b : a;
}

/// The sign is that of the product: of the modifiers `.xorsign.abs`.
template <typename T, bool IsMax, bool Nan, bool Ftz> T extremumOfMagnitudes(T a, T b) {
  using Bits = Word<sizeof(T)>;
  constexpr Bits sign = Bits(1) << (sizeof(T) * 8 - 1);
  const Bits x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
  const T magnitude =
      extremum<T, IsMax, Nan, Ftz>(std::bit_cast<T>(Bits(x & ~sign)), std::bit_cast<T>(Bits(y & ~sign)));
  return std::bit_cast<T>(Bits(std::bit_cast<Bits>(magnitude) | ((x ^ y) & sign)));
}

template <auto F> struct Packed;
template <typename T, T (*F)(T)> struct Packed<F> {
  static uint32_t run(uint32_t a) { return F({uint16_t(a)}).bits | uint32_t{F({uint16_t(a >> 16)}).bits} << 16; }
};
template <typename T, T (*F)(T, T)> struct Packed<F> {
  static uint32_t run(uint32_t a, uint32_t b) {
    return F({uint16_t(a)}, {uint16_t(b)}).bits | uint32_t{F({uint16_t(a >> 16)}, {uint16_t(b >> 16)}).bits} << 16;
  }
};
template <typename T, T (*F)(T, T, T)> struct Packed<F> {
  static uint32_t run(uint32_t a, uint32_t b, uint32_t c) {
    return F({uint16_t(a)}, {uint16_t(b)}, {uint16_t(c)}).bits |
           uint32_t{F({uint16_t(a >> 16)}, {uint16_t(b >> 16)}, {uint16_t(c >> 16)}).bits} << 16;
  }
};

int hostRounding(const std::string &mode) {
  return mode == "rz" ? FE_TOWARDZERO : mode == "rm" ? FE_DOWNWARD : mode == "rp" ? FE_UPWARD : FE_TONEAREST;
}

struct Form {
  std::string type, rounding;
  bool isFlushed, isSaturated;
};

struct RoundingRoles {
  int mode; ///< of <cfenv>
};
} // namespace

/// Runs an instruction in another rounding mode of the host; `immediate` is the instruction's function.
static Step roundedRun(Warp &warp, const Instruction &instruction) {
  std::fesetround(instruction.roles<RoundingRoles>().mode);
  const Step step = reinterpret_cast<Execute>(instruction.immediate)(warp, instruction);
  std::fesetround(FE_TONEAREST);
  return step;
}

static Form takeForm(Decoder &decoder) {
  Form form;
  form.rounding = decoder.takeOf({"rn", "rz", "rm", "rp"});
  form.isFlushed = decoder.take("ftz");
  form.isSaturated = decoder.take("sat");
  form.type = decoder.takeType();
  return form;
}

static void applyRounding(Decoder &decoder, const Form &form) {
  if (const int mode = hostRounding(form.rounding); mode != FE_TONEAREST && !decoder.hasFailed()) {
    Instruction &instruction = decoder.lastInstruction();
    instruction.immediate = reinterpret_cast<uint64_t>(instruction.execute);
    instruction.setRoles(RoundingRoles{mode});
    instruction.execute = &roundedRun;
  }
}

#define NEREID_SIM_FLOAT(METHOD)                                                                                       \
  (form.type == "f64"                   ? decoder.lanes<&FloatOps<double, false, false>::METHOD>()                     \
   : form.type != "f32"                 ? decoder.fail("the type `." + form.type + "` is not known here")              \
   : form.isFlushed && form.isSaturated ? decoder.lanes<&FloatOps<float, true, true>::METHOD>()                        \
   : form.isFlushed                     ? decoder.lanes<&FloatOps<float, true, false>::METHOD>()                       \
   : form.isSaturated                   ? decoder.lanes<&FloatOps<float, false, true>::METHOD>()                       \
                                        : decoder.lanes<&FloatOps<float, false, false>::METHOD>())
#define NEREID_SIM_HALF(METHOD)                                                                                        \
  (form.type == "f16"      ? decoder.lanes<&HalfOps<Half>::METHOD>()                                                   \
   : form.type == "bf16"   ? decoder.lanes<&HalfOps<Brain>::METHOD>()                                                  \
   : form.type == "f16x2"  ? decoder.lanes<&Packed<&HalfOps<Half>::METHOD>::run>()                                     \
   : form.type == "bf16x2" ? decoder.lanes<&Packed<&HalfOps<Brain>::METHOD>::run>()                                    \
                           : decoder.fail("the type `." + form.type + "` is not known here"))

static bool isHalf(const std::string &type) {
  return type == "f16" || type == "bf16" || type == "f16x2" || type == "bf16x2";
}
static bool isFloat(const std::string &type) { return type == "f32" || type == "f64"; }

static void decodeSum(Decoder &decoder) {
  if (decoder.has("cc"))
    return decodeCarry(decoder, decoder.takeType());
  const std::string &name = decoder.opcode();
  if (decoder.hasIntegerType())
    return decodeIntegerArithmetic(decoder, decoder.takeType());
  const Form form = takeForm(decoder);
  if (isHalf(form.type)) {
    if (form.isSaturated)
      return name == "add" ? NEREID_SIM_HALF(addSat) : NEREID_SIM_HALF(subSat);
    return name == "add" ? NEREID_SIM_HALF(add) : NEREID_SIM_HALF(sub);
  }
  name == "add" ? NEREID_SIM_FLOAT(add) : NEREID_SIM_FLOAT(sub);
  applyRounding(decoder, form);
}

static void decodeProduct(Decoder &decoder) {
  if (decoder.hasIntegerType())
    return decodeIntegerProduct(decoder, decoder.takeType());
  const Form form = takeForm(decoder);
  const bool isProduct = decoder.opcode() == "mul", isRelu = decoder.take("relu");
  if (isHalf(form.type)) {
    if (isProduct)
      return form.isSaturated ? NEREID_SIM_HALF(mulSat) : NEREID_SIM_HALF(mul);
    return isRelu ? NEREID_SIM_HALF(fmaRelu) : form.isSaturated ? NEREID_SIM_HALF(fmaSat) : NEREID_SIM_HALF(fma);
  }
  isProduct ? NEREID_SIM_FLOAT(mul) : NEREID_SIM_FLOAT(fma);
  applyRounding(decoder, form);
}

static void decodeQuotient(Decoder &decoder) {
  if (decoder.hasIntegerType())
    return decodeIntegerArithmetic(decoder, decoder.takeType());
  decoder.takeOf({"approx", "full"});
  const Form form = takeForm(decoder);
  NEREID_SIM_FLOAT(div);
  applyRounding(decoder, form);
}

static void decodeSign(Decoder &decoder) {
  if (decoder.hasIntegerType())
    return decodeIntegerArithmetic(decoder, decoder.takeType());
  const Form form = takeForm(decoder);
  if (isHalf(form.type))
    return decoder.opcode() == "abs" ? NEREID_SIM_HALF(abs) : NEREID_SIM_HALF(neg);
  decoder.opcode() == "abs" ? NEREID_SIM_FLOAT(abs) : NEREID_SIM_FLOAT(neg);
}

template <bool IsMax, bool Nan> static void emitExtremum(Decoder &decoder, const Form &form) {
  const std::string &type = form.type;
  type == "f64"      ? decoder.lanes<&extremum<double, IsMax, Nan, false>>()
  : type == "f16"    ? decoder.lanes<&extremum<Half, IsMax, Nan, false>>()
  : type == "bf16"   ? decoder.lanes<&extremum<Brain, IsMax, Nan, false>>()
  : type == "f16x2"  ? decoder.lanes<&Packed<&extremum<Half, IsMax, Nan, false>>::run>()
  : type == "bf16x2" ? decoder.lanes<&Packed<&extremum<Brain, IsMax, Nan, false>>::run>()
  : form.isFlushed   ? decoder.lanes<&extremum<float, IsMax, Nan, true>>()
                     : decoder.lanes<&extremum<float, IsMax, Nan, false>>();
}

template <bool IsMax, bool Nan> static void emitExtremumOfMagnitudes(Decoder &decoder, const Form &form) {
  const std::string &type = form.type;
  type == "f16"      ? decoder.lanes<&extremumOfMagnitudes<Half, IsMax, Nan, false>>()
  : type == "bf16"   ? decoder.lanes<&extremumOfMagnitudes<Brain, IsMax, Nan, false>>()
  : type == "f16x2"  ? decoder.lanes<&Packed<&extremumOfMagnitudes<Half, IsMax, Nan, false>>::run>()
  : type == "bf16x2" ? decoder.lanes<&Packed<&extremumOfMagnitudes<Brain, IsMax, Nan, false>>::run>()
  : type != "f32"    ? decoder.fail("the type is not known here")
  : form.isFlushed   ? decoder.lanes<&extremumOfMagnitudes<float, IsMax, Nan, true>>()
                     : decoder.lanes<&extremumOfMagnitudes<float, IsMax, Nan, false>>();
}

static void decodeExtremum(Decoder &decoder) {
  if (decoder.hasIntegerType())
    return decodeIntegerArithmetic(decoder, decoder.takeType());
  const bool isMax = decoder.opcode() == "max", isNan = decoder.take("NaN");
  const bool isOfMagnitudes = decoder.take("xorsign") && decoder.take("abs");
  const Form form = takeForm(decoder);
  if (isOfMagnitudes && isMax)
    return isNan ? emitExtremumOfMagnitudes<true, true>(decoder, form)
                 : emitExtremumOfMagnitudes<true, false>(decoder, form);
  if (isOfMagnitudes)
    return isNan ? emitExtremumOfMagnitudes<false, true>(decoder, form)
                 : emitExtremumOfMagnitudes<false, false>(decoder, form);
  if (!isHalf(form.type) && !isFloat(form.type))
    return decoder.fail("the type is not known here");
  if (isMax)
    return isNan ? emitExtremum<true, true>(decoder, form) : emitExtremum<true, false>(decoder, form);
  isNan ? emitExtremum<false, true>(decoder, form) : emitExtremum<false, false>(decoder, form);
}

static void decodeFunction(Decoder &decoder) {
  const std::string &name = decoder.opcode();
  decoder.take("approx");
  const Form form = takeForm(decoder);
  if (isHalf(form.type))
    return name == "ex2"    ? NEREID_SIM_HALF(power2)
           : name == "tanh" ? NEREID_SIM_HALF(tangent)
                            : decoder.fail("the type is not known here");
  name == "sqrt"    ? NEREID_SIM_FLOAT(sqrt)
  : name == "rcp"   ? NEREID_SIM_FLOAT(reciprocal)
  : name == "rsqrt" ? NEREID_SIM_FLOAT(inverseRoot)
  : name == "sin"   ? NEREID_SIM_FLOAT(sine)
  : name == "cos"   ? NEREID_SIM_FLOAT(cosine)
  : name == "lg2"   ? NEREID_SIM_FLOAT(logarithm)
  : name == "tanh"  ? NEREID_SIM_FLOAT(tangent)
                    : NEREID_SIM_FLOAT(power2);
  applyRounding(decoder, form);
}

/// The sign of the first operand with the magnitude of the second.
template <typename T> static T copySign(T a, T b) { return std::copysign(b, a); }
static void decodeCopySign(Decoder &decoder) {
  decoder.takeType() == "f64" ? decoder.lanes<&copySign<double>>() : decoder.lanes<&copySign<float>>();
}

template <typename T, int Class> static bool isOfClass(T a) {
  const int kind = std::fpclassify(a);
  return Class == 0   ? std::isfinite(a)
         : Class == 1 ? kind == FP_INFINITE
         : Class == 2 ? kind != FP_NAN
         : Class == 3 ? kind == FP_NAN
         : Class == 4 ? kind == FP_NORMAL
                      : kind == FP_SUBNORMAL;
}
template <int Class> static void emitClass(Decoder &decoder) {
  decoder.takeType() == "f64" ? decoder.lanes<&isOfClass<double, Class>>() : decoder.lanes<&isOfClass<float, Class>>();
}
static void decodeTest(Decoder &decoder) {
  decoder.take("finite")       ? emitClass<0>(decoder)
  : decoder.take("infinite")   ? emitClass<1>(decoder)
  : decoder.take("notanumber") ? emitClass<3>(decoder)
  : decoder.take("number")     ? emitClass<2>(decoder)
  : decoder.take("normal")     ? emitClass<4>(decoder)
  : decoder.take("subnormal")  ? emitClass<5>(decoder)
                               : decoder.fail("this form is not known");
}

std::span<const OpcodeEntry> nereid::sim::floatOpcodes() {
  static const OpcodeEntry entries[] = {
      {"add", decodeSum},        {"sub", decodeSum},       {"mul", decodeProduct},       {"mad", decodeProduct},
      {"fma", decodeProduct},    {"div", decodeQuotient},  {"abs", decodeSign},          {"neg", decodeSign},
      {"min", decodeExtremum},   {"max", decodeExtremum},  {"sqrt", decodeFunction},     {"rcp", decodeFunction},
      {"rsqrt", decodeFunction}, {"sin", decodeFunction},  {"cos", decodeFunction},      {"lg2", decodeFunction},
      {"ex2", decodeFunction},   {"tanh", decodeFunction}, {"copysign", decodeCopySign}, {"testp", decodeTest}};
  return entries;
}
