// atom and red with all operations, by the host's atomic instructions.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Access.h"
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>
#include <mutex>

using namespace nereid::sim;

namespace {
enum class Op : uint8_t { Add, Min, Max, And, Or, Xor, Exch, Cas, Inc, Dec };

/// Replaces the word by `f` of it, atomically; returns the old word.
template <typename W, typename F> W update(char *memory, F f) {
  auto *word = reinterpret_cast<W *>(memory);
  W old = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  while (!__atomic_compare_exchange_n(word, &old, W(f(old)), true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
    ;
  return old;
}

template <typename T> T applyInteger(Op op, T old, T b, T c) {
  switch (op) {
  case Op::Add:
    return T(old + b);
  case Op::Min:
    return std::min(old, b);
  case Op::Max:
    return std::max(old, b);
  case Op::And:
    return old & b;
  case Op::Or:
    return old | b;
  case Op::Xor:
    return old ^ b;
  case Op::Exch:
    return b;
  case Op::Cas:
    return old == b ? c : old;
  case Op::Inc:
    return old >= b ? T(0) : T(old + 1);
  case Op::Dec:
    return old == 0 || old > b ? b : T(old - 1);
  }
  return old;
}

template <typename T> T floatMin(T a, T b) {
  return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b;
}
template <typename T> T floatMax(T a, T b) {
  return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
}
template <typename T> T applyFloat(Op op, T old, T b) {
  return op == Op::Add ? old + b : op == Op::Min ? floatMin(old, b) : floatMax(old, b);
}

template <typename T> struct Integer {
  using Word = std::make_unsigned_t<T>;
  static Word run(Op op, Word old, Word b, Word c) { return Word(applyInteger<T>(op, T(old), T(b), T(c))); }
};
struct Single {
  using Word = uint32_t;
  static Word run(Op op, Word old, Word b, Word) {
    return std::bit_cast<Word>(applyFloat(op, std::bit_cast<float>(old), std::bit_cast<float>(b)));
  }
};
struct Twofold {
  using Word = uint64_t;
  static Word run(Op op, Word old, Word b, Word) {
    return std::bit_cast<Word>(applyFloat(op, std::bit_cast<double>(old), std::bit_cast<double>(b)));
  }
};
template <typename T> struct Short {
  using Word = uint16_t;
  static Word run(Op op, Word old, Word b, Word) {
    return fromFloat<T>(applyFloat(op, toFloat(T{old}), toFloat(T{b}))).bits;
  }
};
template <typename T> struct ShortPair {
  using Word = uint32_t;
  static Word run(Op op, Word old, Word b, Word) {
    return uint32_t{Short<T>::run(op, uint16_t(old >> 16), uint16_t(b >> 16), 0)} << 16 |
           Short<T>::run(op, uint16_t(old), uint16_t(b), 0);
  }
};

struct AtomicRoles {
  Space space;
  Op op;
  uint8_t count; ///< of elements
};
} // namespace

/// list: results, then values, then values of cas.
template <typename N> static Step atomic(Warp &warp, const Instruction &instruction) {
  using W = typename N::Word;
  using S = typename SlotOf<sizeof(W)>::Type;
  const AtomicRoles roles = instruction.roles<AtomicRoles>();
  const unsigned count = roles.count;
  const Op op = roles.op;
  LaneAccess access(warp, instruction, roles.space, instruction.slots[0], instruction.immediate, sizeof(W) * count);
  access.replaces = op == Op::Exch;
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
  const bool isSwap = roles.op == Op::Cas;
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
  static const std::map<std::string, Execute, std::less<>> known = {
      {"u32", &atomic<Integer<uint32_t>>}, {"b32", &atomic<Integer<uint32_t>>},  {"s32", &atomic<Integer<int32_t>>},
      {"u64", &atomic<Integer<uint64_t>>}, {"b64", &atomic<Integer<uint64_t>>},  {"s64", &atomic<Integer<int64_t>>},
      {"b16", &atomic<Integer<uint16_t>>}, {"u16", &atomic<Integer<uint16_t>>},  {"f32", &atomic<Single>},
      {"f64", &atomic<Twofold>},           {"f16", &atomic<Short<Half>>},        {"bf16", &atomic<Short<Brain>>},
      {"f16x2", &atomic<ShortPair<Half>>}, {"bf16x2", &atomic<ShortPair<Brain>>}};
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
  const std::string name = decoder.takeOf({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  static constexpr const char *names[] = {"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"};
  decoder.takeOf({"v2", "v4", "v8"});
  const std::string type = decoder.takeType();
  Instruction instruction;
  const bool is128 = type == "b128" && (name == "exch" || name == "cas") && !isReduction;
  instruction.execute = is128 ? &atomic128 : atomicOf(type);
  if (!instruction.execute || name.empty())
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
  addOperands(decoder, instruction, name == "cas" ? decoder.operand(first + 2) : value, lanes, false);
  instruction.slots[0] = decoder.address(decoder.operand(first), instruction.immediate);
  const auto op = static_cast<Op>(std::find(std::begin(names), std::end(names), name) - std::begin(names));
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
