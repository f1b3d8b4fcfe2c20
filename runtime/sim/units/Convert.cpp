// cvt between all types, packed forms included.
// SPDX-License-Identifier: MIT
//
// Any value of a type of at most 64 bits is exact in the host's long double, so that one rounding gives the result.
// Frequent conversions have functions of their own.
#include "runtime/sim/machine/Formats.h"
#include "runtime/sim/units/Forms.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>
#include <limits>
#include <mutex>

using namespace nereid::sim;

namespace {
/// What a conversion does; `Instruction::immediate` points to one that the table below keeps.
struct Conversion {
  std::string from, to;
  Rounding rounding = Rounding::Zero;
  bool roundsToInteger = false, isFlushed = false, isSaturated = false, isFinite = false, isRelu = false;
  bool operator==(const Conversion &) const = default;
};

const Format *formatOf(const std::string &type) {
  static const std::map<std::string, const Format *, std::less<>> known = {
      {"f16", &kF16},   {"bf16", &kBf16}, {"f32", &kF32},   {"f64", &kF64},   {"tf32", &kTf32},
      {"e4m3", &kE4m3}, {"e5m2", &kE5m2}, {"e2m1", &kE2m1}, {"e2m3", &kE2m3}, {"e3m2", &kE3m2}};
  auto found = known.find(type);
  return found == known.end() ? nullptr : found->second;
}

long double rounded(long double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::Nearest:
    return std::nearbyint(value);
  case Rounding::NearestAway:
    return std::round(value);
  case Rounding::Zero:
    return std::trunc(value);
  case Rounding::Down:
    return std::floor(value);
  case Rounding::Up:
    return std::ceil(value);
  }
  return value;
}

unsigned bitsOfInteger(const std::string &type) { return unsigned(std::stoul(type.substr(1))); }

uint64_t toInteger(long double value, const Conversion &conversion) {
  const unsigned bits = bitsOfInteger(conversion.to);
  const bool isSigned = conversion.to[0] == 's';
  if (std::isnan(value))
    return isSigned && bits == 64 ? uint64_t{1} << 63 : bits == 64 && !isSigned ? uint64_t{1} << 63 : 0;
  value = rounded(value, conversion.rounding);
  const long double low = isSigned ? -std::ldexp(1.0L, int(bits) - 1) : 0;
  const long double high = std::ldexp(1.0L, int(bits) - isSigned) - 1;
  value = value < low ? low : value > high ? high : value;
  return isSigned ? uint64_t(int64_t(value)) : uint64_t(value);
}

uint64_t integerToInteger(uint64_t bits, const Conversion &conversion) {
  if (!conversion.isSaturated)
    return bits;
  const unsigned width = bitsOfInteger(conversion.to);
  const bool isFromSigned = conversion.from[0] == 's', isSigned = conversion.to[0] == 's';
  const __int128 value = isFromSigned ? __int128(int64_t(bits)) : __int128(bits);
  const __int128 low = isSigned ? -(__int128(1) << (width - 1)) : 0, high = (__int128(1) << (width - isSigned)) - 1;
  return uint64_t(value < low ? low : value > high ? high : value);
}

bool isSubnormal32(uint32_t bits) { return !(bits & 0x7f800000) && bits & 0x7fffffff; }

uint64_t extended(uint64_t bits, const std::string &type) {
  const unsigned shift = 64 - bitsOfInteger(type);
  return type[0] == 's' ? uint64_t(int64_t(bits << shift) >> shift) : bits << shift >> shift;
}

/// One lane, from and to bits in the low end.
uint64_t convert(uint64_t bits, const Conversion &conversion) {
  const Format *from = formatOf(conversion.from), *to = formatOf(conversion.to);
  if (!from)
    bits = extended(bits, conversion.from);
  if (!from && !to)
    return extended(integerToInteger(bits, conversion), conversion.to);
  if (conversion.isFlushed && from == &kF32 && isSubnormal32(uint32_t(bits)))
    bits &= 0x80000000;
  long double value = from                        ? decode(bits, *from)
                      : conversion.from[0] == 's' ? (long double)(int64_t(bits))
                                                  : (long double)(bits);
  if (!to)
    return toInteger(value, conversion);
  if (conversion.roundsToInteger)
    value = rounded(value, conversion.rounding);
  if (conversion.isSaturated)
    value = value > 0 ? value < 1 ? value : 1 : 0;
  if (conversion.isRelu && value <= 0)
    value = 0;
  uint64_t result = encode(value, *to, conversion.rounding, conversion.isFinite);
  if (to == &kTf32)
    result <<= 13;
  if (conversion.isFlushed && to == &kF32 && isSubnormal32(uint32_t(result)))
    result &= 0x80000000;
  return result;
}

const Conversion *interned(const Conversion &conversion) {
  static std::mutex mutex;
  static std::deque<Conversion> conversions;
  std::lock_guard lock(mutex);
  for (const Conversion &known : conversions)
    if (known == conversion)
      return &known;
  return &conversions.emplace_back(conversion);
}

/// Whether lanes have 8 bytes.
struct WidthRoles {
  bool isResultWide, isSourceWide;
};
/// Bits of a number of a register that holds two.
struct PackedRoles {
  uint8_t to, from;
};
} // namespace

/// slots: result, source(s).
static Step convertAny(Warp &warp, const Instruction &instruction) {
  const auto &conversion = *reinterpret_cast<const Conversion *>(instruction.immediate);
  const auto [isResultWide, isSourceWide] = instruction.roles<WidthRoles>();
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    if (!warp.isActive(lane))
      continue;
    const uint64_t bits =
        isSourceWide ? warp.at<uint64_t>(instruction.slots[1])[lane] : warp.at<uint32_t>(instruction.slots[1])[lane];
    const uint64_t result = convert(bits, conversion);
    if (isResultWide)
      warp.at<uint64_t>(instruction.slots[0])[lane] = result;
    else
      warp.at<uint32_t>(instruction.slots[0])[lane] = uint32_t(result);
  }
  return Step::Next;
}

/// d = {a, b}: a in the upper half.
static Step convertPair(Warp &warp, const Instruction &instruction) {
  const auto &conversion = *reinterpret_cast<const Conversion *>(instruction.immediate);
  const unsigned width = instruction.roles<PackedRoles>().to;
  const auto *high = warp.at<uint32_t>(instruction.slots[1]), *low = warp.at<uint32_t>(instruction.slots[2]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      warp.at<uint32_t>(instruction.slots[0])[lane] =
          uint32_t(convert(high[lane], conversion) << width | convert(low[lane], conversion));
  return Step::Next;
}

/// Two numbers in one register to two in another.
static Step convertHalves(Warp &warp, const Instruction &instruction) {
  const auto &conversion = *reinterpret_cast<const Conversion *>(instruction.immediate);
  const auto [to, from] = instruction.roles<PackedRoles>();
  const auto *source = warp.at<uint32_t>(instruction.slots[1]);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane)) {
      const uint32_t bits = source[lane], mask = (1u << from) - 1;
      warp.at<uint32_t>(instruction.slots[0])[lane] =
          uint32_t(convert(bits >> from & mask, conversion) << to | convert(bits & mask, conversion));
    }
  return Step::Next;
}

//--- frequent conversions ------------------------------------------------------------------

template <typename To, typename From> static To cast(From value) { return static_cast<To>(value); }
template <typename To> static uint16_t fromSingle(float value) { return fromFloat<To>(value).bits; }
template <typename From> static float toSingle(From value) { return toFloat(value); }
template <typename To> static uint32_t pairOf(float high, float low) {
  return uint32_t{fromFloat<To>(high).bits} << 16 | fromFloat<To>(low).bits;
}

using ConversionTable = std::map<std::string, Decode, std::less<>>;

template <typename From> static void addCasts(ConversionTable &table, const std::string &from) {
  table["u64." + from] = &decodeLanes<&cast<uint64_t, From>>, table["s64." + from] = &decodeLanes<&cast<int64_t, From>>;
  table["u32." + from] = &decodeLanes<&cast<uint32_t, From>>, table["s32." + from] = &decodeLanes<&cast<int32_t, From>>;
}

/// By the types of result and source.
static const ConversionTable &frequentConversions() {
  static const ConversionTable conversions = [] {
    ConversionTable table = {
        {"f16.f32", &decodeLanes<&fromSingle<Half>>},     {"bf16.f32", &decodeLanes<&fromSingle<Brain>>},
        {"f32.f16", &decodeLanes<&toSingle<Half>>},       {"f32.bf16", &decodeLanes<&toSingle<Brain>>},
        {"f32.s32", &decodeLanes<&cast<float, int32_t>>}, {"f32.u32", &decodeLanes<&cast<float, uint32_t>>},
        {"f32.f64", &decodeLanes<&cast<float, double>>},  {"f16x2.f32", &decodeLanes<&pairOf<Half>>},
        {"bf16x2.f32", &decodeLanes<&pairOf<Brain>>}};
    addCasts<uint16_t>(table, "u16"), addCasts<int16_t>(table, "s16");
    addCasts<uint32_t>(table, "u32"), addCasts<int32_t>(table, "s32");
    addCasts<uint64_t>(table, "u64"), addCasts<int64_t>(table, "s64");
    return table;
  }();
  return conversions;
}

static bool decodeFrequent(Decoder &decoder, const Conversion &conversion, const std::string &to,
                           const std::string &from) {
  const Conversion plain{.from = conversion.from, .to = conversion.to, .rounding = Rounding::Nearest};
  // A destination may be wider than the type; those go the other way.
  if (conversion != plain || decoder.widthOf(decoder.operand(0)) != std::max(bytesOfType(to), 4u))
    return false;
  const auto known = frequentConversions().find(to + "." + from);
  if (known == frequentConversions().end())
    return false;
  return known->second(decoder), true;
}

//--- decoding ------------------------------------------------------------------------------

static void takeRounding(Decoder &decoder, Conversion &conversion) {
  using Mode = std::pair<Rounding, bool>; // whether it rounds to an integer
  static constexpr std::pair<std::string_view, Mode> modes[] = {
      {"rn", {Rounding::Nearest, false}}, {"rz", {Rounding::Zero, false}},         {"rm", {Rounding::Down, false}},
      {"rp", {Rounding::Up, false}},      {"rna", {Rounding::NearestAway, false}}, {"rni", {Rounding::Nearest, true}},
      {"rzi", {Rounding::Zero, true}},    {"rmi", {Rounding::Down, true}},         {"rpi", {Rounding::Up, true}}};
  std::tie(conversion.rounding, conversion.roundsToInteger) =
      decoder.takeNamed(modes).value_or(Mode{Rounding::Nearest, false});
}

static std::string takeAnyType(Decoder &decoder) {
  return decoder.takeOf({"u8",  "s8",  "u16",  "s16",   "u32",    "s32",    "u64",    "s64",    "f16",    "bf16",
                         "f32", "f64", "tf32", "f16x2", "bf16x2", "e4m3x2", "e5m2x2", "e2m1x2", "e2m3x2", "e3m2x2"});
}

static bool isPacked(const std::string &type) { return type.ends_with("x2"); }
static std::string scalarOf(const std::string &type) { return isPacked(type) ? type.substr(0, type.size() - 2) : type; }

/// Bits of a number of that format in a packed register; 0 for none.
static uint8_t packedBits(const std::string &format) {
  if (format.empty())
    return 0;
  const unsigned bits = formatOf(format)->bits();
  return bits == 4 ? 4 : bits > 8 ? 16 : 8;
}

static void decodeConvert(Decoder &decoder) {
  Conversion conversion;
  takeRounding(decoder, conversion);
  conversion.isFlushed = decoder.take("ftz");
  conversion.isSaturated = decoder.take("sat");
  conversion.isFinite = decoder.take("satfinite");
  conversion.isRelu = decoder.take("relu");
  const std::string to = takeAnyType(decoder), from = takeAnyType(decoder);
  conversion.to = scalarOf(to), conversion.from = scalarOf(from);
  if (to.empty() || from.empty())
    return decoder.fail("the types are not known here");
  if (decodeFrequent(decoder, conversion, to, from))
    return;
  Instruction instruction;
  const bool isPair = decoder.operands().size() == 3;
  instruction.immediate = reinterpret_cast<uint64_t>(interned(conversion));
  if (isPacked(to)) {
    instruction.setRoles(PackedRoles{packedBits(conversion.to), packedBits(isPacked(from) ? conversion.from : "")});
    for (unsigned index = 1; index < decoder.operands().size(); ++index)
      instruction.slots[index] = decoder.source(decoder.operand(index), 4, true);
    instruction.slots[0] = decoder.destination(decoder.operand(0), 4);
    instruction.execute = isPair ? &convertPair : &convertHalves;
    return void(decoder.add(std::move(instruction)));
  }
  const unsigned fromBytes = std::max({bytesOfType(from), 4u}), toBytes = decoder.widthOf(decoder.operand(0));
  instruction.slots[1] = decoder.source(decoder.operand(1), fromBytes, formatOf(from));
  instruction.slots[0] = decoder.destination(decoder.operand(0), toBytes);
  instruction.setRoles(WidthRoles{toBytes == 8, fromBytes == 8});
  instruction.execute = &convertAny;
  decoder.add(std::move(instruction));
}

template <typename T> static std::make_unsigned_t<T> saturated(int32_t value) {
  using Limits = std::numeric_limits<T>;
  return T(std::clamp<int32_t>(value, Limits::min(), Limits::max()));
}
template <typename T> static uint32_t pack16(int32_t a, int32_t b) {
  return uint32_t{saturated<T>(a)} << 16 | saturated<T>(b);
}
template <typename T> static uint32_t pack8(int32_t a, int32_t b, uint32_t c) {
  return c << 16 | uint32_t{saturated<T>(a)} << 8 | saturated<T>(b);
}

static void decodePackIntegers(Decoder &decoder) {
  decoder.take("sat");
  const std::string type = decoder.takeType();
  decoder.takeType(), decoder.takeType();
  type == "s16"   ? decoder.lanes<&pack16<int16_t>>()
  : type == "u16" ? decoder.lanes<&pack16<uint16_t>>()
  : type == "s8"  ? decoder.lanes<&pack8<int8_t>>()
  : type == "u8"  ? decoder.lanes<&pack8<uint8_t>>()
                  : decoder.fail("the type is not known here");
}

static void decodeAnyConvert(Decoder &decoder) {
  decoder.take("pack") ? decodePackIntegers(decoder) : decodeConvert(decoder);
}

void nereid::sim::addConvertOpcodes(OpcodeTable &table) { table.add("cvt", decodeAnyConvert, Kind::Convert); }
