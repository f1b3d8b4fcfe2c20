// Reductions of one number of memory, by the host's atomic instructions.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Reduction.h"

#include "runtime/sim/machine/Formats.h"

#include <algorithm>

using namespace nereid::sim;

template <typename T> static T reduced(Reduction reduction, T a, T b) {
  if (reduction == Reduction::Add)
    return T(a + b);
  if (reduction == Reduction::Min)
    return std::min(a, b);
  if (reduction == Reduction::Max)
    return std::max(a, b);
  if constexpr (std::is_integral_v<T>)
    return reduction == Reduction::And   ? a & b
           : reduction == Reduction::Or  ? a | b
           : reduction == Reduction::Xor ? a ^ b
           : reduction == Reduction::Inc ? (a >= b ? T(0) : T(a + 1))
                                         : (a == 0 || a > b ? b : T(a - 1));
  return a;
}

template <typename W, typename F> static void combine(char *memory, const char *with, F f) {
  W value;
  std::memcpy(&value, with, sizeof(W));
  auto *word = reinterpret_cast<W *>(memory);
  W old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, W(f(old, value)), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
}
template <typename T> static void combineIntegers(Reduction op, char *memory, const char *with) {
  combine<T>(memory, with, [op](T a, T b) { return reduced(op, a, b); });
}
template <typename T, typename W> static void combineFloats(Reduction op, char *memory, const char *with) {
  combine<W>(memory, with,
             [op](W a, W b) { return std::bit_cast<W>(reduced(op, std::bit_cast<T>(a), std::bit_cast<T>(b))); });
}
template <typename T> static void combineHalves(Reduction op, char *memory, const char *with) {
  combine<uint16_t>(memory, with, [op](uint16_t a, uint16_t b) {
    return fromFloat<T>(reduced(op, toFloat(T{a}), toFloat(T{b}))).bits;
  });
}

void nereid::sim::reduceInto(TensorElement element, Reduction reduction, char *memory, const char *with) {
  if (reduction == Reduction::None)
    return void(std::memcpy(memory, with, bytesOf(element)));
  switch (element) {
  case TensorElement::F32:
  case TensorElement::F32Ftz:
    return combineFloats<float, uint32_t>(reduction, memory, with);
  case TensorElement::F64:
    return combineFloats<double, uint64_t>(reduction, memory, with);
  case TensorElement::F16:
    return combineHalves<Half>(reduction, memory, with);
  case TensorElement::BF16:
    return combineHalves<Brain>(reduction, memory, with);
  case TensorElement::S32:
    return combineIntegers<int32_t>(reduction, memory, with);
  case TensorElement::S64:
    return combineIntegers<int64_t>(reduction, memory, with);
  case TensorElement::U64:
    return combineIntegers<uint64_t>(reduction, memory, with);
  default:
    return combineIntegers<uint32_t>(reduction, memory, with);
  }
}

Reduction nereid::sim::takeReduction(Decoder &decoder) {
  static constexpr const char *names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (size_t index = 0; index < std::size(names); ++index)
    if (decoder.take(names[index]))
      return static_cast<Reduction>(index + 1);
  return Reduction::None;
}

std::optional<TensorElement> nereid::sim::takeElement(Decoder &decoder) {
  static constexpr std::pair<const char *, TensorElement> known[] = {
      {"u32", TensorElement::U32},  {"b32", TensorElement::U32}, {"s32", TensorElement::S32},
      {"u64", TensorElement::U64},  {"b64", TensorElement::U64}, {"s64", TensorElement::S64},
      {"f32", TensorElement::F32},  {"f64", TensorElement::F64}, {"f16", TensorElement::F16},
      {"bf16", TensorElement::BF16}};
  for (auto [name, element] : known)
    if (decoder.take(name))
      return element;
  return std::nullopt;
}
