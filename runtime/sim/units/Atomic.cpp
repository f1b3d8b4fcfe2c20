// atom and red with all operations, by the host's atomic instructions.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/units/Reduction.h"

#include <algorithm>
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

static Execute atomicOf(const std::string &type) {
  static const std::map<std::string, Execute, std::less<>> known = {{"u32", &atomic<IntegerWord<uint32_t>>},
                                                                    {"b32", &atomic<IntegerWord<uint32_t>>},
                                                                    {"s32", &atomic<IntegerWord<int32_t>>},
                                                                    {"u64", &atomic<IntegerWord<uint64_t>>},
                                                                    {"b64", &atomic<IntegerWord<uint64_t>>},
                                                                    {"s64", &atomic<IntegerWord<int64_t>>},
                                                                    {"b16", &atomic<IntegerWord<uint16_t>>},
                                                                    {"u16", &atomic<IntegerWord<uint16_t>>},
                                                                    {"f32", &atomic<FloatWord<float, uint32_t>>},
                                                                    {"f64", &atomic<FloatWord<double, uint64_t>>},
                                                                    {"f16", &atomic<HalfWord<Half>>},
                                                                    {"bf16", &atomic<HalfWord<Brain>>},
                                                                    {"f16x2", &atomic<HalvesWord<Half>>},
                                                                    {"bf16x2", &atomic<HalvesWord<Brain>>}};
  auto found = known.find(type);
  return found == known.end() ? nullptr : found->second;
}

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
  instruction.execute = is128 ? &atomic128 : atomicOf(type);
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

std::span<const OpcodeEntry> nereid::sim::atomicOpcodes() {
  static const OpcodeEntry entries[] = {{"atom", decodeAtomic, Kind::Atomic, ValueFlow::Defined},
                                        {"red", decodeAtomicReduction, Kind::Atomic, ValueFlow::Defined}};
  return entries;
}
