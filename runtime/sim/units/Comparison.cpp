// setp, set, selp, slct: comparisons of all types, and choices by predicates.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Forms.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>
#include <array>

using namespace nereid::sim;

namespace {
/// Relations of ordered numbers, then the same with "or unordered".
enum class Relation : uint8_t { Eq, Ne, Lt, Le, Gt, Ge, Equ, Neu, Ltu, Leu, Gtu, Geu, Num, Nan };
constexpr size_t kNumRelations = size_t(Relation::Nan) + 1;

constexpr std::pair<std::string_view, Relation> kRelations[] = {
    {"eq", Relation::Eq},   {"ne", Relation::Ne},   {"lt", Relation::Lt},   {"le", Relation::Le},
    {"gt", Relation::Gt},   {"ge", Relation::Ge},   {"equ", Relation::Equ}, {"neu", Relation::Neu},
    {"ltu", Relation::Ltu}, {"leu", Relation::Leu}, {"gtu", Relation::Gtu}, {"geu", Relation::Geu},
    {"num", Relation::Num}, {"nan", Relation::Nan}, {"lo", Relation::Lt},   {"ls", Relation::Le},
    {"hi", Relation::Gt},   {"hs", Relation::Ge}};

template <Relation R, typename N> bool compare(N a, N b) {
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

//--- numbers of a lane ---------------------------------------------------------------------

template <typename T> T plain(T a) { return a; }
template <typename T> float half(T a) { return toFloat(a); }
/// A number of a register that holds two.
template <typename T, unsigned Shift> float packedHalf(uint32_t a) { return toFloat(T{uint16_t(a >> Shift)}); }
float flushed(float a) {
  const uint32_t bits = std::bit_cast<uint32_t>(a);
  return std::bit_cast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}

/// Compares what `Read` makes of two lanes.
template <auto Read> struct Comparisons;
template <typename N, typename T, N (*Read)(T)> struct Comparisons<Read> {
  template <Relation R> static bool run(T a, T b) { return compare<R>(Read(a), Read(b)); }
  template <size_t... I> static constexpr std::array<Execute, kNumRelations> row(std::index_sequence<I...>) {
    return {&Lanes<&run<static_cast<Relation>(I)>>::run...};
  }
};
/// By relation.
template <auto Read>
constexpr std::array<Execute, kNumRelations> kRow = Comparisons<Read>::row(std::make_index_sequence<kNumRelations>());

struct ComparedType {
  std::string_view name;
  const std::array<Execute, kNumRelations> *row, *upper = nullptr; ///< `upper`: of the second of two packed numbers
};
constexpr ComparedType kTypes[] = {{"u64", &kRow<plain<uint64_t>>},
                                   {"b64", &kRow<plain<uint64_t>>},
                                   {"u32", &kRow<plain<uint32_t>>},
                                   {"b32", &kRow<plain<uint32_t>>},
                                   {"u16", &kRow<plain<uint16_t>>},
                                   {"b16", &kRow<plain<uint16_t>>},
                                   {"s64", &kRow<plain<int64_t>>},
                                   {"s32", &kRow<plain<int32_t>>},
                                   {"s16", &kRow<plain<int16_t>>},
                                   {"f32", &kRow<plain<float>>},
                                   {"f32.ftz", &kRow<flushed>},
                                   {"f64", &kRow<plain<double>>},
                                   {"f16", &kRow<half<Half>>},
                                   {"bf16", &kRow<half<Brain>>},
                                   {"f16x2", &kRow<packedHalf<Half, 0>>, &kRow<packedHalf<Half, 16>>},
                                   {"bf16x2", &kRow<packedHalf<Brain, 0>>, &kRow<packedHalf<Brain, 16>>}};

//--- predicates ----------------------------------------------------------------------------

bool sameBit(bool value) { return value; }
constexpr std::pair<std::string_view, Execute> kCombinations[] = {
    {"and", &Lanes<&conjunction>::run}, {"or", &Lanes<&disjunction>::run}, {"xor", &Lanes<&exclusive>::run}};

template <auto One> auto oneIf(bool a) { return a ? One : decltype(One)(0); }
template <uint32_t One> uint32_t onesIf(bool low, bool high) { return (low ? One : 0) | (high ? One << 16 : 0); }
/// What `set` writes, by the type of the result.
constexpr std::pair<std::string_view, Execute> kResults[] = {{"f32", &Lanes<&oneIf<0x3f800000u>>::run},
                                                             {"u32", &Lanes<&oneIf<~0u>>::run},
                                                             {"s32", &Lanes<&oneIf<~0u>>::run},
                                                             {"b32", &Lanes<&oneIf<~0u>>::run},
                                                             {"f16", &Lanes<&oneIf<uint16_t{0x3c00}>>::run},
                                                             {"bf16", &Lanes<&oneIf<uint16_t{0x3f80}>>::run},
                                                             {"u16", &Lanes<&oneIf<uint16_t{0xffff}>>::run},
                                                             {"s16", &Lanes<&oneIf<uint16_t{0xffff}>>::run},
                                                             {"b16", &Lanes<&oneIf<uint16_t{0xffff}>>::run},
                                                             {"f16x2", &Lanes<&onesIf<0x3c00>>::run},
                                                             {"bf16x2", &Lanes<&onesIf<0x3f80>>::run}};

template <typename T> T select(T a, T b, bool p) { return p ? a : b; }
template <typename T, typename C> T selectBySign(T a, T b, C c) { return c >= 0 ? a : b; }
} // namespace

//--- decoding ------------------------------------------------------------------------------

static void emitTo(Decoder &decoder, Execute execute, uint32_t to, uint32_t a, uint32_t b = 0) {
  Instruction &instruction = decoder.emit(execute);
  instruction.slots[0] = to;
  instruction.slots[1] = a;
  instruction.slots[2] = b;
}

namespace {
/// A comparison of operands 1 and 2.
struct Comparison {
  Execute first = nullptr, upper = nullptr;
  Execute combine = nullptr; ///< with operand 3
  uint32_t a = 0, b = 0;     ///< slots
};
/// Slots of two results: those of packed numbers, or the result and its opposite.
struct Results {
  uint32_t first, second;
};
} // namespace

/// Nothing after a failure.
static std::optional<Comparison> takeComparison(Decoder &decoder) {
  const std::optional<Relation> relation = decoder.takeNamed(kRelations);
  Comparison result;
  result.combine = decoder.takeNamed(kCombinations).value_or(nullptr);
  const bool isFlushed = decoder.take("ftz");
  const std::string type = decoder.takeType();
  const std::string name = isFlushed && type == "f32" ? "f32.ftz" : type;
  const auto row = std::ranges::find(kTypes, name, &ComparedType::name);
  if (!relation || row == std::end(kTypes))
    return decoder.fail(relation ? "the type is not known here" : "no comparison is named"), std::nullopt;
  result.first = (*row->row)[size_t(*relation)];
  result.upper = row->upper ? (*row->upper)[size_t(*relation)] : nullptr;
  const unsigned bytes = std::max(bytesOfType(type), 4u);
  result.a = decoder.source(decoder.operand(1), bytes, type[0] == 'f');
  result.b = decoder.source(decoder.operand(2), bytes, type[0] == 'f');
  return result;
}

static Results emitComparison(Decoder &decoder, const Comparison &comparison) {
  const Results results{decoder.allocate(0), decoder.allocate(0)};
  emitTo(decoder, comparison.first, results.first, comparison.a, comparison.b);
  if (comparison.upper)
    emitTo(decoder, comparison.upper, results.second, comparison.a, comparison.b);
  else
    emitTo(decoder, &Lanes<&negation>::run, results.second, results.first);
  if (comparison.combine) {
    const uint32_t c = decoder.source(decoder.operand(3), 0);
    emitTo(decoder, comparison.combine, results.first, results.first, c);
    emitTo(decoder, comparison.combine, results.second, results.second, c);
  }
  return results;
}

static void decodeSetp(Decoder &decoder) {
  const auto comparison = takeComparison(decoder);
  if (!comparison)
    return;
  const Operand &to = decoder.operand(0);
  const bool isPair = to.kind == OperandKind::Vector && to.parts.size() == 2;
  if (!isPair && decoder.operands().size() == 3 && !comparison->combine) // the common form needs one instruction
    return emitTo(decoder, comparison->first, decoder.destination(to, 0), comparison->a, comparison->b);
  const Results results = emitComparison(decoder, *comparison);
  emitTo(decoder, &Lanes<&sameBit>::run, decoder.destination(isPair ? to.parts[0] : to, 0), results.first);
  if (isPair)
    emitTo(decoder, &Lanes<&sameBit>::run, decoder.destination(to.parts[1], 0), results.second);
}

static void decodeSet(Decoder &decoder) {
  const auto write = std::ranges::find(kResults, decoder.takeType(), &std::pair<std::string_view, Execute>::first);
  const auto comparison = takeComparison(decoder);
  if (write == std::end(kResults) || !comparison)
    return decoder.fail("the type is not known here");
  const Results results = emitComparison(decoder, *comparison);
  emitTo(decoder, write->second, decoder.destination(decoder.operand(0), 4), results.first, results.second);
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

void nereid::sim::addComparisonOpcodes(OpcodeTable &table) {
  table.add("setp", decodeSetp, kByType, ValueFlow::All);
  table.add("set", decodeSet, kByType);
  table.add("selp", decodeSelect, Kind::Integer, ValueFlow::Select);
  table.add("slct", decodeSelectBySign, Kind::Integer);
}
