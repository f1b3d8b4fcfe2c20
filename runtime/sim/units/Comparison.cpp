// setp, set, selp, slct: comparisons of all types, and choices by predicates.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Opcodes.h"

#include <array>

using namespace nereid::sim;

namespace {
/// Relations of ordered numbers, then the same with "or unordered".
enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };

inline uint64_t comparable(uint64_t a) { return a; }
inline uint32_t comparable(uint32_t a) { return a; }
inline uint16_t comparable(uint16_t a) { return a; }
inline int64_t comparable(int64_t a) { return a; }
inline int32_t comparable(int32_t a) { return a; }
inline int16_t comparable(int16_t a) { return a; }
inline float comparable(float a) { return a; }
inline double comparable(double a) { return a; }
inline float comparable(Half a) { return toFloat(a); }
inline float comparable(Brain a) { return toFloat(a); }

template <typename T, Relation R> bool compare(T left, T right) {
  const auto a = comparable(left), b = comparable(right);
  switch (R) {
  case Relation::Eq:
    return a == b;
  case Relation::Ne: // false for NaN
    return a < b || a > b;
  case Relation::Lt:
    return a < b;
  case Relation::Le:
    return a <= b;
  case Relation::Gt:
    return a > b;
  case Relation::Ge:
    return a >= b;
  case Relation::Equ:
    return !(a < b || a > b);
  case Relation::Neu:
    return !(a == b);
  case Relation::Ltu:
    return !(a >= b);
  case Relation::Leu:
    return !(a > b);
  case Relation::Gtu:
    return !(a <= b);
  case Relation::Geu:
    return !(a < b);
  case Relation::Num:
    return a == a && b == b;
  case Relation::Nan:
    return a != a || b != b;
  }
  return false;
}

float flushed(float a) {
  const uint32_t bits = std::bit_cast<uint32_t>(a);
  return std::bit_cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
template <Relation R> bool compareFlushed(float a, float b) { return compare<float, R>(flushed(a), flushed(b)); }

/// The lower or upper half of packed numbers.
template <typename T, Relation R, unsigned Shift> bool compareHalf(uint32_t a, uint32_t b) {
  return compare<T, R>(T{uint16_t(a >> Shift)}, T{uint16_t(b >> Shift)});
}

template <typename T, size_t... I> constexpr auto comparisonsOf(std::index_sequence<I...>) {
  return std::array<Execute, sizeof...(I)>{&Lanes<&compare<T, static_cast<Relation>(I)>>::run...};
}
template <size_t... I> constexpr auto flushedComparisons(std::index_sequence<I...>) {
  return std::array<Execute, sizeof...(I)>{&Lanes<&compareFlushed<static_cast<Relation>(I)>>::run...};
}
template <typename T, unsigned Shift, size_t... I> constexpr auto halfComparisons(std::index_sequence<I...>) {
  return std::array<Execute, sizeof...(I)>{&Lanes<&compareHalf<T, static_cast<Relation>(I), Shift>>::run...};
}
using Relations = std::make_index_sequence<14>;

bool conjunction(bool a, bool b) { return a && b; }
bool disjunction(bool a, bool b) { return a || b; }
bool exclusive(bool a, bool b) { return a != b; }
bool negation(bool a) { return !a; }
uint32_t allOnes(bool a) { return a ? ~0u : 0u; }
uint32_t floatOne(bool a) { return a ? 0x3f800000u : 0u; }
uint16_t allOnes16(bool a) { return a ? 0xffff : 0; }
template <uint16_t One> uint16_t halfOne(bool a) { return a ? One : 0; }
template <uint32_t One> uint32_t halvesOne(bool low, bool high) { return (low ? One : 0) | (high ? One << 16 : 0); }
template <typename T> T select(T a, T b, bool p) { return p ? a : b; }
template <typename T, typename C> T selectBySign(T a, T b, C c) { return c >= 0 ? a : b; }
} // namespace

static Execute comparisonOf(const std::string &type, bool isFlushed, unsigned relation) {
  static const std::map<std::string, std::array<Execute, 14>, std::less<>> known = {
      {"u64", comparisonsOf<uint64_t>(Relations())},     {"b64", comparisonsOf<uint64_t>(Relations())},
      {"u32", comparisonsOf<uint32_t>(Relations())},     {"b32", comparisonsOf<uint32_t>(Relations())},
      {"u16", comparisonsOf<uint16_t>(Relations())},     {"b16", comparisonsOf<uint16_t>(Relations())},
      {"s64", comparisonsOf<int64_t>(Relations())},      {"s32", comparisonsOf<int32_t>(Relations())},
      {"s16", comparisonsOf<int16_t>(Relations())},      {"f32", comparisonsOf<float>(Relations())},
      {"f64", comparisonsOf<double>(Relations())},       {"f16", comparisonsOf<Half>(Relations())},
      {"bf16", comparisonsOf<Brain>(Relations())},       {"f16x2", halfComparisons<Half, 0>(Relations())},
      {"bf16x2", halfComparisons<Brain, 0>(Relations())}};
  static const std::array<Execute, 14> ofFlushed = flushedComparisons(Relations());
  if (isFlushed && type == "f32")
    return ofFlushed[relation];
  auto found = known.find(type);
  return found == known.end() ? nullptr : found->second[relation];
}

static Execute upperComparison(const std::string &type, unsigned relation) {
  static const auto halves = halfComparisons<Half, 16>(Relations()), brains = halfComparisons<Brain, 16>(Relations());
  return type == "f16x2" ? halves[relation] : type == "bf16x2" ? brains[relation] : nullptr;
}

static int takeRelation(Decoder &decoder) {
  static constexpr const char *names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",  "equ",
                                          "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (int index = 0; index < 14; ++index)
    if (decoder.take(names[index]))
      return index;
  static constexpr std::pair<const char *, Relation> unsignedNames[] = {
      {"lo", Relation::Lt}, {"ls", Relation::Le}, {"hi", Relation::Gt}, {"hs", Relation::Ge}};
  for (auto [name, relation] : unsignedNames)
    if (decoder.take(name))
      return int(relation);
  decoder.fail("no comparison is named");
  return 0;
}

static void emitTo(Decoder &decoder, Execute execute, uint32_t to, uint32_t a, uint32_t b = 0) {
  Instruction &instruction = decoder.emit(execute);
  instruction.slots[0] = to;
  instruction.slots[1] = a;
  instruction.slots[2] = b;
}

/// Emits the comparison combined with the third operand if there is one; returns the predicate's slot.
struct Compared {
  uint32_t first, second;
};
static Compared emitComparison(Decoder &decoder, std::string *resultType = nullptr) {
  const int relation = takeRelation(decoder);
  const std::string combination = decoder.takeOf({"and", "or", "xor"});
  const bool isFlushed = decoder.take("ftz");
  if (resultType)
    *resultType = decoder.takeType();
  const std::string type = decoder.takeType();
  const Execute execute = comparisonOf(type, isFlushed, unsigned(relation));
  const unsigned bytes = std::max(bytesOfType(type), 4u);
  if (!execute)
    return decoder.fail("the type is not known here"), Compared{};
  const bool isFloat = type[0] == 'f';
  const uint32_t a = decoder.source(decoder.operand(1), bytes, isFloat);
  const uint32_t b = decoder.source(decoder.operand(2), bytes, isFloat);
  Compared result{decoder.allocate(0), decoder.allocate(0)};
  emitTo(decoder, execute, result.first, a, b);
  if (const Execute upper = upperComparison(type, unsigned(relation)))
    emitTo(decoder, upper, result.second, a, b);
  else
    emitTo(decoder, &Lanes<&negation>::run, result.second, result.first);
  if (!combination.empty()) {
    const uint32_t c = decoder.source(decoder.operand(3), 0);
    const Execute combine = combination == "and"  ? &Lanes<&conjunction>::run
                            : combination == "or" ? &Lanes<&disjunction>::run
                                                  : &Lanes<&exclusive>::run;
    emitTo(decoder, combine, result.first, result.first, c);
    emitTo(decoder, combine, result.second, result.second, c);
  }
  return result;
}

static bool sameBit2(bool value) { return value; }

/// The common form needs one instruction.
static bool decodePlain(Decoder &decoder) {
  if (decoder.operand(0).kind == OperandKind::Vector || decoder.operands().size() != 3)
    return false;
  const int relation = takeRelation(decoder);
  const bool isFlushed = decoder.take("ftz");
  const std::string type = decoder.takeType();
  const Execute execute = comparisonOf(type, isFlushed, unsigned(relation));
  if (!execute)
    return decoder.fail("the type is not known here"), true;
  const unsigned bytes = std::max(bytesOfType(type), 4u);
  const uint32_t a = decoder.source(decoder.operand(1), bytes, type[0] == 'f');
  const uint32_t b = decoder.source(decoder.operand(2), bytes, type[0] == 'f');
  emitTo(decoder, execute, decoder.destination(decoder.operand(0), 0), a, b);
  return true;
}

static void decodeSetp(Decoder &decoder) {
  if (decodePlain(decoder))
    return;
  const Compared result = emitComparison(decoder);
  const Operand &to = decoder.operand(0);
  const bool isPair = to.kind == OperandKind::Vector && to.parts.size() == 2;
  emitTo(decoder, &Lanes<&sameBit2>::run, decoder.destination(isPair ? to.parts[0] : to, 0), result.first);
  if (isPair)
    emitTo(decoder, &Lanes<&sameBit2>::run, decoder.destination(to.parts[1], 0), result.second);
}

static void decodeSet(Decoder &decoder) {
  std::string type;
  const Compared result = emitComparison(decoder, &type);
  const unsigned bytes = bytesOfType(type);
  if (bytes != 4 && bytes != 2)
    return decoder.fail("the type is not known here");
  const Execute execute = type == "f32"      ? &Lanes<&floatOne>::run
                          : type == "f16"    ? &Lanes<&halfOne<0x3c00>>::run
                          : type == "bf16"   ? &Lanes<&halfOne<0x3f80>>::run
                          : type == "f16x2"  ? &Lanes<&halvesOne<0x3c00>>::run
                          : type == "bf16x2" ? &Lanes<&halvesOne<0x3f80>>::run
                          : bytes == 2       ? &Lanes<&allOnes16>::run
                                             : &Lanes<&allOnes>::run;
  emitTo(decoder, execute, decoder.destination(decoder.operand(0), 4), result.first, result.second);
}

static void decodeSelect(Decoder &decoder) {
  const unsigned bytes = bytesOfType(decoder.takeType());
  bytes == 8 ? decoder.lanes<&select<uint64_t>>() : decoder.lanes<&select<uint32_t>>();
}

static void decodeSelectBySign(Decoder &decoder) {
  decoder.take("ftz");
  const unsigned bytes = bytesOfType(decoder.takeType());
  const bool isFloat = decoder.takeType() == "f32";
  if (bytes == 8)
    return isFloat ? decoder.lanes<&selectBySign<uint64_t, float>>()
                   : decoder.lanes<&selectBySign<uint64_t, int32_t>>();
  isFloat ? decoder.lanes<&selectBySign<uint32_t, float>>() : decoder.lanes<&selectBySign<uint32_t, int32_t>>();
}

std::span<const OpcodeEntry> nereid::sim::comparisonOpcodes() {
  static const OpcodeEntry entries[] = {{"setp", decodeSetp, kByType, ValueFlow::All},
                                        {"set", decodeSet, kByType},
                                        {"selp", decodeSelect, Kind::Integer, ValueFlow::Select},
                                        {"slct", decodeSelectBySign, Kind::Integer}};
  return entries;
}
