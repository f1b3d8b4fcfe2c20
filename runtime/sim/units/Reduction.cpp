// Reductions of one number of memory, by the host's atomic instructions.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Reduction.h"

using namespace nereid::sim;

template <typename N> static void combine(AtomicOp op, char *memory, const char *with) {
  using Word = typename N::Word;
  Word value;
  std::memcpy(&value, with, sizeof value);
  update<Word>(memory, [&](Word old) { return N::run(op, old, value, 0); });
}

void nereid::sim::reduceInto(TensorElement element, AtomicOp reduction, char *memory, const char *with) {
  if (reduction == AtomicOp::None)
    return void(std::memcpy(memory, with, bytesOf(element)));
  switch (element) {
  case TensorElement::F32:
  case TensorElement::F32Ftz:
    return combine<FloatWord<float, uint32_t>>(reduction, memory, with);
  case TensorElement::F64:
    return combine<FloatWord<double, uint64_t>>(reduction, memory, with);
  case TensorElement::F16:
    return combine<HalfWord<Half>>(reduction, memory, with);
  case TensorElement::BF16:
    return combine<HalfWord<Brain>>(reduction, memory, with);
  case TensorElement::S32:
    return combine<IntegerWord<int32_t>>(reduction, memory, with);
  case TensorElement::S64:
    return combine<IntegerWord<int64_t>>(reduction, memory, with);
  case TensorElement::U64:
    return combine<IntegerWord<uint64_t>>(reduction, memory, with);
  default:
    return combine<IntegerWord<uint32_t>>(reduction, memory, with);
  }
}

AtomicOp nereid::sim::takeReduction(Decoder &decoder) {
  static constexpr const char *names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (size_t index = 0; index < std::size(names); ++index)
    if (decoder.take(names[index]))
      return static_cast<AtomicOp>(index + 1);
  return AtomicOp::None;
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
