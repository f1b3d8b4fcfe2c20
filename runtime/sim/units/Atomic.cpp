// atom and red with all operations, and asynchronous reductions, by the host's atomic instructions.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Reduction.h"

#include <algorithm>
#include <array>
#include <mutex>

using namespace nereid::sim;

namespace {
struct AtomicRoles {
  Space space;
  AtomicOp op;
  uint8_t count; ///< of elements
};
} // namespace

/// list: results, then values, then values of cas.
template <typename N> static Step atomic(Warp &warp, const Instruction &instruction) {
  using W = typename N::Word;
  using S = typename SlotOf<sizeof(W)>::Type;
  const AtomicRoles roles = instruction.roles<AtomicRoles>();
  const unsigned count = roles.count;
  const AtomicOp op = roles.op;
  LaneAccess access(warp, instruction, roles.space, instruction.slots[0], instruction.immediate, sizeof(W) * count);
  access.replaces = op == AtomicOp::Exch;
  if (!access.updating().resolve(warp))
    return Step::Fail;
  bool changes = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    char *memory = access.memory[lane];
    for (unsigned index = 0; index < count; ++index) {
      const W b = W(warp.at<S>(instruction.list[count + index])[lane]);
      const W c = W(warp.at<S>(instruction.list[count * 2 + index])[lane]);
      const W old = update<W>(memory + index * sizeof(W), [&](W word) { return N::run(op, word, b, c); });
      changes |= N::run(op, old, b, c) != old;
      warp.at<S>(instruction.list[index])[lane] = old;
    }
  }
  return access.noteUpdate(warp, changes, instruction.isReduction);
}

/// exch and cas of 128 bits, which exclude each other. list: result, value, value of cas.
static Step atomic128(Warp &warp, const Instruction &instruction) {
  static std::mutex mutex;
  const AtomicRoles roles = instruction.roles<AtomicRoles>();
  LaneAccess access(warp, instruction, roles.space, instruction.slots[0], instruction.immediate, sizeof(Bits128));
  const bool isSwap = roles.op == AtomicOp::Cas;
  access.replaces = !isSwap;
  if (!access.updating().resolve(warp))
    return Step::Fail;
  bool changes = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const Bits128 first = warp.at<Bits128>(instruction.list[1])[lane];
    const Bits128 second = warp.at<Bits128>(instruction.list[2])[lane];
    std::lock_guard lock(mutex);
    Bits128 old;
    std::memcpy(&old, access.memory[lane], sizeof(old));
    if (!isSwap || (old.low == first.low && old.high == first.high))
      std::memcpy(access.memory[lane], isSwap ? &second : &first, sizeof(old));
    changes |= std::memcmp(access.memory[lane], &old, sizeof(old)) != 0;
    warp.at<Bits128>(instruction.list[0])[lane] = old;
  }
  return access.noteUpdate(warp, changes, instruction.isReduction);
}

//--- types of numbers ----------------------------------------------------------------------

/// Combines one number of memory with one at `with`.
template <typename N> static void combine(AtomicOp op, char *memory, const char *with) {
  typename N::Word value;
  std::memcpy(&value, with, sizeof value);
  update<typename N::Word>(memory, [&](typename N::Word old) { return N::run(op, old, value, 0); });
}

namespace {
struct NumberType {
  std::string_view name;
  Execute atomic;
  Combine combine;
  std::optional<TensorElement> element; ///< of tensors and of asynchronous stores
};
template <typename N>
constexpr NumberType number(std::string_view name, std::optional<TensorElement> element = std::nullopt) {
  return {name, &atomic<N>, &combine<N>, element};
}
constexpr NumberType kNumberTypes[] = {number<IntegerWord<uint32_t>>("u32", TensorElement::U32),
                                       number<IntegerWord<uint32_t>>("b32", TensorElement::U32),
                                       number<IntegerWord<int32_t>>("s32", TensorElement::S32),
                                       number<IntegerWord<uint64_t>>("u64", TensorElement::U64),
                                       number<IntegerWord<uint64_t>>("b64", TensorElement::U64),
                                       number<IntegerWord<int64_t>>("s64", TensorElement::S64),
                                       number<IntegerWord<uint16_t>>("b16"),
                                       number<IntegerWord<uint16_t>>("u16"),
                                       number<FloatWord<float, uint32_t>>("f32", TensorElement::F32),
                                       number<FloatWord<float, uint32_t>>("f32.ftz", TensorElement::F32Ftz),
                                       number<FloatWord<double, uint64_t>>("f64", TensorElement::F64),
                                       number<HalfWord<Half>>("f16", TensorElement::F16),
                                       number<HalfWord<Brain>>("bf16", TensorElement::BF16),
                                       number<HalvesWord<Half>>("f16x2"),
                                       number<HalvesWord<Brain>>("bf16x2")};
} // namespace

static const NumberType *findType(std::string_view name) {
  const auto type = std::ranges::find(kNumberTypes, name, &NumberType::name);
  return type == std::end(kNumberTypes) ? nullptr : &*type;
}

std::optional<uint8_t> nereid::sim::findCombine(std::string_view type) {
  const NumberType *found = findType(type);
  return found ? std::optional(uint8_t(found - kNumberTypes)) : std::nullopt;
}
Combine nereid::sim::combineOf(uint8_t number) { return kNumberTypes[number].combine; }

void nereid::sim::reduceInto(TensorElement element, AtomicOp reduction, char *memory, const char *with) {
  static const auto combines = [] {
    std::array<Combine, size_t(TensorElement::TF32Ftz) + 1> table;
    table.fill(&combine<IntegerWord<uint32_t>>);
    for (const NumberType &type : kNumberTypes)
      if (type.element)
        table[size_t(*type.element)] = type.combine;
    return table;
  }();
  reduction == AtomicOp::None ? void(std::memcpy(memory, with, bytesOf(element)))
                              : combines[size_t(element)](reduction, memory, with);
}

std::optional<TensorElement> nereid::sim::takeElement(Decoder &decoder) {
  const NumberType *type = findType(decoder.takeType());
  return type ? type->element : std::nullopt;
}

AtomicOp nereid::sim::takeReduction(Decoder &decoder) {
  static constexpr std::pair<std::string_view, AtomicOp> names[] = {
      {"add", AtomicOp::Add}, {"min", AtomicOp::Min}, {"max", AtomicOp::Max}, {"inc", AtomicOp::Inc},
      {"dec", AtomicOp::Dec}, {"and", AtomicOp::And}, {"or", AtomicOp::Or},   {"xor", AtomicOp::Xor}};
  return decoder.takeNamed(names).value_or(AtomicOp::None);
}

//--- decoding ------------------------------------------------------------------------------

/// Operands of a vector form are vectors, otherwise single.
static void addOperands(Decoder &decoder, Instruction &instruction, const Operand &operand, unsigned lanes,
                        bool isResult) {
  const std::vector<Operand> parts = elementsOf(operand);
  for (const Operand &part : parts)
    instruction.list.push_back(isResult ? decoder.destination(part, lanes) : decoder.source(part, lanes, true));
}

static void decodeAny(Decoder &decoder, bool isReduction) {
  decoder.takeOrder(Order::Relaxed, Scope::Gpu);
  decoder.take("noftz");
  Space space = decoder.takeSpace(Space::Generic);
  const AtomicOp op = decoder.take("exch")  ? AtomicOp::Exch
                      : decoder.take("cas") ? AtomicOp::Cas
                                            : takeReduction(decoder);
  decoder.takeOf({"v2", "v4", "v8"});
  const std::string type = decoder.takeType();
  Instruction instruction;
  const bool is128 = type == "b128" && (op == AtomicOp::Exch || op == AtomicOp::Cas) && !isReduction;
  const NumberType *number = findType(type);
  instruction.execute = is128 ? &atomic128 : number ? number->atomic : nullptr;
  if (!instruction.execute || op == AtomicOp::None)
    return decoder.fail("this form of an atomic operation is not known");
  const unsigned lanes = std::max(bytesOfType(type), 4u), first = isReduction ? 0 : 1;
  const Operand &value = decoder.operand(first + 1);
  const size_t count = value.kind == OperandKind::Vector ? value.parts.size() : 1;
  if (isReduction)
    for (size_t index = 0; index < count; ++index)
      instruction.list.push_back(decoder.allocate(lanes));
  else
    addOperands(decoder, instruction, decoder.operand(0), lanes, true);
  addOperands(decoder, instruction, value, lanes, false);
  addOperands(decoder, instruction, op == AtomicOp::Cas ? decoder.operand(first + 2) : value, lanes, false);
  instruction.slots[0] = decoder.address(decoder.operand(first), instruction.immediate);
  instruction.setRoles(AtomicRoles{space, op, uint8_t(count)});
  instruction.isReduction = isReduction;
  decoder.add(std::move(instruction));
}

static void decodeAtomic(Decoder &decoder) { decodeAny(decoder, false); }

void nereid::sim::decodeAtomicReduction(Decoder &decoder) {
  if (decoder.has("async"))
    return decodeAsyncStore(decoder);
  decodeAny(decoder, true);
}

void nereid::sim::addAtomicOpcodes(OpcodeTable &table) {
  table.add("atom", decodeAtomic, Kind::Atomic, ValueFlow::Defined);
  table.add("red", decodeAtomicReduction, Kind::Atomic, ValueFlow::Defined);
}
