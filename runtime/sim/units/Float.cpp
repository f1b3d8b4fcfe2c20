// Floating-point arithmetic with its modifiers: rounding, ftz, sat, relu, NaN, and the approximations.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Forms.h"
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

template <auto F> struct Single {
  static constexpr auto run = F;
};
template <auto F> struct Packed;
template <typename T, typename... A, T (*F)(A...)> struct Packed<F> {
  template <typename> using Pair = uint32_t;
  static uint32_t run(Pair<A>... a) {
    return F({uint16_t(a)}...).bits | uint32_t{F({uint16_t(a >> 16)}...).bits} << 16;
  }
};

int hostRounding(const std::string &mode) {
  return mode == "rz" ? FE_TOWARDZERO : mode == "rm" ? FE_DOWNWARD : mode == "rp" ? FE_UPWARD : FE_TONEAREST;
}

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

static void applyRounding(Decoder &decoder, const std::string &rounding) {
  const int mode = hostRounding(rounding);
  if (mode == FE_TONEAREST || decoder.hasFailed())
    return;
  Instruction &instruction = decoder.lastInstruction();
  instruction.immediate = reinterpret_cast<uint64_t>(instruction.execute);
  instruction.setRoles(RoundingRoles{mode});
  instruction.execute = &roundedRun;
}

//--- forms ---------------------------------------------------------------------------------

template <typename T, bool Ftz, bool Sat>
static void addFloats(FormTable &forms, std::string_view type, std::string_view suffix) {
  using Ops = FloatOps<T, Ftz, Sat>;
  forms.add({type},
            {{"add", &decodeLanes<&Ops::add>},
             {"sub", &decodeLanes<&Ops::sub>},
             {"mul", &decodeLanes<&Ops::mul>},
             {"mad", &decodeLanes<&Ops::fma>},
             {"fma", &decodeLanes<&Ops::fma>},
             {"div", &decodeLanes<&Ops::div>},
             {"abs", &decodeLanes<&Ops::abs>},
             {"neg", &decodeLanes<&Ops::neg>},
             {"sqrt", &decodeLanes<&Ops::sqrt>},
             {"rcp", &decodeLanes<&Ops::reciprocal>},
             {"rsqrt", &decodeLanes<&Ops::inverseRoot>},
             {"sin", &decodeLanes<&Ops::sine>},
             {"cos", &decodeLanes<&Ops::cosine>},
             {"lg2", &decodeLanes<&Ops::logarithm>},
             {"tanh", &decodeLanes<&Ops::tangent>},
             {"ex2", &decodeLanes<&Ops::power2>}},
            suffix);
}

/// `Wrap` makes an operation on a number, or on two packed ones.
template <typename T, template <auto> class Wrap> static void addHalves(FormTable &forms, std::string_view type) {
  using Ops = HalfOps<T>;
  forms.add({type}, {{"add", &decodeLanes<Wrap<&Ops::add>::run>},
                     {"add.sat", &decodeLanes<Wrap<&Ops::addSat>::run>},
                     {"sub", &decodeLanes<Wrap<&Ops::sub>::run>},
                     {"sub.sat", &decodeLanes<Wrap<&Ops::subSat>::run>},
                     {"mul", &decodeLanes<Wrap<&Ops::mul>::run>},
                     {"mul.sat", &decodeLanes<Wrap<&Ops::mulSat>::run>},
                     {"fma", &decodeLanes<Wrap<&Ops::fma>::run>},
                     {"fma.sat", &decodeLanes<Wrap<&Ops::fmaSat>::run>},
                     {"fma.relu", &decodeLanes<Wrap<&Ops::fmaRelu>::run>},
                     {"abs", &decodeLanes<Wrap<&Ops::abs>::run>},
                     {"neg", &decodeLanes<Wrap<&Ops::neg>::run>},
                     {"ex2", &decodeLanes<Wrap<&Ops::power2>::run>},
                     {"tanh", &decodeLanes<Wrap<&Ops::tangent>::run>}});
}

template <typename T, bool Ftz, template <auto> class Wrap>
static void addExtrema(FormTable &forms, std::string_view type, std::string_view suffix = "") {
  forms.add({type},
            {{"min", &decodeLanes<Wrap<&extremum<T, false, false, Ftz>>::run>},
             {"min.NaN", &decodeLanes<Wrap<&extremum<T, false, true, Ftz>>::run>},
             {"max", &decodeLanes<Wrap<&extremum<T, true, false, Ftz>>::run>},
             {"max.NaN", &decodeLanes<Wrap<&extremum<T, true, true, Ftz>>::run>}},
            suffix);
  if constexpr (sizeof(T) <= 4)
    forms.add({type},
              {{"min", &decodeLanes<Wrap<&extremumOfMagnitudes<T, false, false, Ftz>>::run>},
               {"min.NaN", &decodeLanes<Wrap<&extremumOfMagnitudes<T, false, true, Ftz>>::run>},
               {"max", &decodeLanes<Wrap<&extremumOfMagnitudes<T, true, false, Ftz>>::run>},
               {"max.NaN", &decodeLanes<Wrap<&extremumOfMagnitudes<T, true, true, Ftz>>::run>}},
              std::string(suffix) + ".xorsign.abs");
}

/// The sign of the first operand with the magnitude of the second.
template <typename T> static T copySign(T a, T b) { return std::copysign(b, a); }

template <typename T, int Class> static bool isOfClass(T a) { return std::fpclassify(a) == Class; }
template <typename T> static bool isFinite(T a) { return std::isfinite(a); }
template <typename T> static bool isNumber(T a) { return !std::isnan(a); }

template <typename T> static void addTests(FormTable &forms, std::string_view type) {
  forms.add({type}, {{"copysign", &decodeLanes<&copySign<T>>},
                     {"testp.finite", &decodeLanes<&isFinite<T>>},
                     {"testp.infinite", &decodeLanes<&isOfClass<T, FP_INFINITE>>},
                     {"testp.number", &decodeLanes<&isNumber<T>>},
                     {"testp.notanumber", &decodeLanes<&isOfClass<T, FP_NAN>>},
                     {"testp.normal", &decodeLanes<&isOfClass<T, FP_NORMAL>>},
                     {"testp.subnormal", &decodeLanes<&isOfClass<T, FP_SUBNORMAL>>}});
}

template <typename T> static void addHalfTypes(FormTable &forms, std::string_view type, std::string_view packed) {
  addHalves<T, Single>(forms, type), addHalves<T, Packed>(forms, packed);
  addExtrema<T, false, Single>(forms, type), addExtrema<T, false, Packed>(forms, packed);
}

static const FormTable &floatForms() {
  static const FormTable table = [] {
    FormTable forms;
    addFloats<float, false, false>(forms, "f32", ""), addFloats<float, true, false>(forms, "f32", ".ftz");
    addFloats<float, false, true>(forms, "f32", ".sat"), addFloats<float, true, true>(forms, "f32", ".ftz.sat");
    addFloats<double, false, false>(forms, "f64", "");
    addExtrema<float, false, Single>(forms, "f32"), addExtrema<float, true, Single>(forms, "f32", ".ftz");
    addExtrema<double, false, Single>(forms, "f64");
    addHalfTypes<Half>(forms, "f16", "f16x2"), addHalfTypes<Brain>(forms, "bf16", "bf16x2");
    addTests<float>(forms, "f32"), addTests<double>(forms, "f64");
    return forms;
  }();
  return table;
}

static void decodeFloat(Decoder &decoder) {
  if (decoder.has("cc") || decoder.hasIntegerType())
    return decodeInteger(decoder);
  decoder.takeOf({"approx", "full"});
  const std::string rounding = decoder.takeOf({"rn", "rz", "rm", "rp"}), type = decoder.takeType();
  if (type != "f32")
    decoder.take("ftz");
  floatForms().decode(decoder, type);
  applyRounding(decoder, rounding);
}

void nereid::sim::addFloatOpcodes(OpcodeTable &table) {
  table.add("add sub mul mad fma div abs neg min max copysign testp", decodeFloat, kByType);
  table.add("sqrt rcp rsqrt sin cos lg2 ex2 tanh", decodeFloat, Kind::Special);
}
