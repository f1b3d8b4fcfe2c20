// Integer arithmetic: add to rem, mad, min and max, extended precision, sad, dot products of bytes.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Forms.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>
#include <limits>

using namespace nereid::sim;

namespace {
template <typename T> using Unsigned = std::make_unsigned_t<T>;
template <typename T>
using Wide =
    std::conditional_t<sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
                       std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                                          std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;
template <typename T> using Twice = std::conditional_t<sizeof(T) == 4, uint64_t, uint32_t>;

template <typename T> struct IntegerOps {
  static T add(T a, T b) { return T(Unsigned<T>(a) + Unsigned<T>(b)); }
  static T sub(T a, T b) { return T(Unsigned<T>(a) - Unsigned<T>(b)); }
  static T mulLow(T a, T b) { return T(Wide<Unsigned<T>>(Unsigned<T>(a)) * Unsigned<T>(b)); }
  static T mulHigh(T a, T b) { return T(Wide<T>(a) * b >> sizeof(T) * 8); }
  static T madLow(T a, T b, T c) { return add(mulLow(a, b), c); }
  static T madHigh(T a, T b, T c) { return add(mulHigh(a, b), c); }
  static T div(T a, T b) {
    if (b == 0)
      return T(-1);
    return std::is_signed_v<T> && b == T(-1) ? sub(0, a) : T(a / b);
  }
  static T rem(T a, T b) {
    if (b == 0)
      return a;
    return std::is_signed_v<T> && b == T(-1) ? T(0) : T(a % b);
  }
  static T min(T a, T b) { return a < b ? a : b; }
  static T max(T a, T b) { return a > b ? a : b; }
  static T minRelu(T a, T b) { return max(min(a, b), 0); }
  static T maxRelu(T a, T b) { return max(max(a, b), 0); }
  static T abs(T a) { return a < T(0) ? sub(0, a) : a; }
  static T neg(T a) { return sub(0, a); }
  static T sad(T a, T b, T c) { return add(c, a < b ? sub(b, a) : sub(a, b)); }
  static T addSaturated(T a, T b) { return clamp(Wide<T>(a) + b); }
  static T subSaturated(T a, T b) { return clamp(Wide<T>(a) - b); }
  static T madHighSaturated(T a, T b, T c) { return addSaturated(mulHigh(a, b), c); }
  static T clamp(Wide<T> value) {
    return T(std::clamp<Wide<T>>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  }
};

template <typename T> struct WideOps {
  static Twice<T> mul(T a, T b) { return Twice<T>(Wide<T>(a) * b); }
  static Twice<T> mad(T a, T b, Twice<T> c) { return Twice<T>(Wide<T>(a) * b) + c; }
};

/// The low 24 bits, sign-extended for signed types.
template <typename T> T low24(T a) { return std::is_signed_v<T> ? T(int32_t(uint32_t(a) << 8) >> 8) : T(a & 0xffffff); }
template <typename T> T mul24Low(T a, T b) { return T(int64_t(low24(a)) * low24(b)); }
template <typename T> T mul24High(T a, T b) { return T(int64_t(low24(a)) * low24(b) >> 16); }
template <typename T> T mad24Low(T a, T b, T c) { return T(uint32_t(mul24Low(a, b)) + uint32_t(c)); }
template <typename T> T mad24High(T a, T b, T c) { return T(uint32_t(mul24High(a, b)) + uint32_t(c)); }
int32_t mad24HighSaturated(int32_t a, int32_t b, int32_t c) {
  return IntegerOps<int32_t>::addSaturated(mul24High(a, b), c);
}

template <typename T> uint32_t packed16(T (*op)(T, T), uint32_t a, uint32_t b) {
  return uint16_t(op(T(a), T(b))) | uint32_t{uint16_t(op(T(a >> 16), T(b >> 16)))} << 16;
}
template <auto Op, typename T> uint32_t both(uint32_t a, uint32_t b) { return packed16<T>(Op, a, b); }

template <typename A, typename B> int32_t dotBytes(uint32_t a, uint32_t b, int32_t c) {
  for (unsigned shift = 0; shift < 32; shift += 8)
    c = int32_t(uint32_t(c) + uint32_t(int32_t(A(a >> shift)) * int32_t(B(b >> shift))));
  return c;
}

/// Two 16-bit numbers of `a`, and two bytes of `b` from bit `Shift` on.
template <typename A, typename B, unsigned Shift> int32_t dotHalves(uint32_t a, uint32_t b, int32_t c) {
  const uint32_t low = uint32_t(int32_t(A(a)) * int32_t(B(b >> Shift)));
  const uint32_t high = uint32_t(int32_t(A(a >> 16)) * int32_t(B(b >> (Shift + 8))));
  return int32_t(uint32_t(c) + low + high);
}
} // namespace

//--- forms ---------------------------------------------------------------------------------

template <typename T> static void addIntegers(FormTable &forms, std::initializer_list<std::string_view> types) {
  using Ops = IntegerOps<T>;
  forms.add(types, {{"add", &decodeLanes<&Ops::add>},
                    {"add.sat", &decodeLanes<&Ops::addSaturated>},
                    {"sub", &decodeLanes<&Ops::sub>},
                    {"sub.sat", &decodeLanes<&Ops::subSaturated>},
                    {"mul", &decodeLanes<&Ops::mulLow>},
                    {"mul.hi", &decodeLanes<&Ops::mulHigh>},
                    {"mad", &decodeLanes<&Ops::madLow>},
                    {"mad.hi", &decodeLanes<&Ops::madHigh>},
                    {"div", &decodeLanes<&Ops::div>},
                    {"rem", &decodeLanes<&Ops::rem>},
                    {"sad", &decodeLanes<&Ops::sad>},
                    {"min", &decodeLanes<&Ops::min>},
                    {"min.relu", &decodeLanes<&Ops::minRelu>},
                    {"max", &decodeLanes<&Ops::max>},
                    {"max.relu", &decodeLanes<&Ops::maxRelu>},
                    {"abs", &decodeLanes<&Ops::abs>},
                    {"neg", &decodeLanes<&Ops::neg>}});
}

template <typename T> static void addPacked(FormTable &forms, std::string_view type) {
  using Ops = IntegerOps<T>;
  forms.add({type}, {{"add", &decodeLanes<&both<&Ops::add, T>>},
                     {"min", &decodeLanes<&both<&Ops::min, T>>},
                     {"min.relu", &decodeLanes<&both<&Ops::minRelu, T>>},
                     {"max", &decodeLanes<&both<&Ops::max, T>>},
                     {"max.relu", &decodeLanes<&both<&Ops::maxRelu, T>>}});
}

template <typename T> static void addWide(FormTable &forms, std::string_view type) {
  forms.add({type}, {{"mul.wide", &decodeLanes<&WideOps<T>::mul>}, {"mad.wide", &decodeLanes<&WideOps<T>::mad>}});
}

template <typename T> static void addProducts24(FormTable &forms, std::string_view type) {
  forms.add({type}, {{"mul24", &decodeLanes<&mul24Low<T>>},
                     {"mul24.hi", &decodeLanes<&mul24High<T>>},
                     {"mad24", &decodeLanes<&mad24Low<T>>},
                     {"mad24.hi", &decodeLanes<&mad24High<T>>}});
}

/// Dot products of four bytes, or of two halves and two bytes.
template <typename Byte, typename Half, typename Right> static void addDots(FormTable &forms, std::string_view types) {
  forms.add({types}, {{"dp4a", &decodeLanes<&dotBytes<Byte, Right>>},
                      {"dp2a.lo", &decodeLanes<&dotHalves<Half, Right, 0>>},
                      {"dp2a.hi", &decodeLanes<&dotHalves<Half, Right, 16>>}});
}

static const FormTable &integerForms() {
  static const FormTable table = [] {
    FormTable forms;
    addIntegers<int16_t>(forms, {"s16", "b16"}), addIntegers<uint16_t>(forms, {"u16"});
    addIntegers<int32_t>(forms, {"s32", "b32"}), addIntegers<uint32_t>(forms, {"u32"});
    addIntegers<int64_t>(forms, {"s64", "b64"}), addIntegers<uint64_t>(forms, {"u64"});
    addPacked<int16_t>(forms, "s16x2"), addPacked<uint16_t>(forms, "u16x2");
    addWide<int16_t>(forms, "s16"), addWide<uint16_t>(forms, "u16");
    addWide<int32_t>(forms, "s32"), addWide<uint32_t>(forms, "u32");
    addProducts24<int32_t>(forms, "s32"), addProducts24<uint32_t>(forms, "u32");
    addDots<int8_t, int16_t, int8_t>(forms, "s32.s32"), addDots<int8_t, int16_t, uint8_t>(forms, "s32.u32");
    addDots<uint8_t, uint16_t, int8_t>(forms, "u32.s32"), addDots<uint8_t, uint16_t, uint8_t>(forms, "u32.u32");
    forms.add({"s32"}, {{"mad.hi.sat", &decodeLanes<&IntegerOps<int32_t>::madHighSaturated>},
                        {"mad24.hi.sat", &decodeLanes<&mad24HighSaturated>}});
    return forms;
  }();
  return table;
}

static void decodeDot(Decoder &decoder) {
  const std::string left = decoder.takeType();
  integerForms().decode(decoder, left + "." + decoder.takeType());
}

//--- carries -------------------------------------------------------------------------------

namespace {
struct CarryRoles {
  bool subtracts, usesCarry, setsCarry;
};
} // namespace

/// add.cc, addc, sub.cc, subc: the carry of each lane is a predicate of the thread.
template <typename T> static Step addWithCarry(Warp &warp, const Instruction &instruction) {
  const Source<T> a(warp, instruction.slots[1]), b(warp, instruction.slots[2]);
  const CarryRoles roles = instruction.roles<CarryRoles>();
  Slot<T> values[kLanes];
  uint32_t carries = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const T right = roles.subtracts ? T(~b[lane]) : b[lane];
    const bool carry = roles.usesCarry ? warp.carry >> lane & 1 : roles.subtracts;
    const unsigned __int128 sum = static_cast<unsigned __int128>(a[lane]) + right + carry;
    values[lane] = T(sum);
    carries |= uint32_t(sum >> sizeof(T) * 8 & 1) << lane;
  }
  writeLanes(warp, instruction.slots[0], values);
  if (roles.setsCarry)
    warp.carry = (warp.carry & ~warp.mask) | (carries & warp.mask);
  return Step::Next;
}

static void decodeCarry(Decoder &decoder) {
  const std::string type = decoder.takeType();
  const unsigned bytes = bytesOfType(type);
  Instruction instruction;
  const std::string &opcode = decoder.opcode();
  instruction.setRoles(CarryRoles{opcode.starts_with("sub"), opcode.ends_with("c"), decoder.take("cc")});
  for (unsigned index : {1, 2})
    instruction.slots[index] = decoder.source(decoder.operand(index), bytes);
  instruction.slots[0] = decoder.destination(decoder.operand(0), bytes);
  instruction.execute = bytes == 8 ? &addWithCarry<uint64_t> : &addWithCarry<uint32_t>;
  decoder.add(std::move(instruction));
}

/// mad.cc and madc: the product, then its sum with the third operand.
static void decodeProductCarry(Decoder &decoder) {
  const std::string type = decoder.takeType();
  const unsigned bytes = bytesOfType(type);
  const bool isHigh = decoder.take("hi"), isSigned = type[0] == 's';
  decoder.take("lo");
  if (bytes < 4)
    return decoder.fail("the type is not known here");
  Instruction product, sum;
  for (unsigned index : {1, 2})
    product.slots[index] = decoder.source(decoder.operand(index), bytes);
  product.slots[0] = decoder.allocate(bytes);
  product.execute = bytes == 8 ? !isHigh    ? &Lanes<&IntegerOps<uint64_t>::mulLow>::run
                                 : isSigned ? &Lanes<&IntegerOps<int64_t>::mulHigh>::run
                                            : &Lanes<&IntegerOps<uint64_t>::mulHigh>::run
                    : !isHigh  ? &Lanes<&IntegerOps<uint32_t>::mulLow>::run
                    : isSigned ? &Lanes<&IntegerOps<int32_t>::mulHigh>::run
                               : &Lanes<&IntegerOps<uint32_t>::mulHigh>::run;
  sum.setRoles(CarryRoles{/*subtracts=*/false, decoder.opcode() == "madc", decoder.take("cc")});
  sum.slots[1] = product.slots[0];
  sum.slots[2] = decoder.source(decoder.operand(3), bytes);
  sum.slots[0] = decoder.destination(decoder.operand(0), bytes);
  sum.execute = bytes == 8 ? &addWithCarry<uint64_t> : &addWithCarry<uint32_t>;
  decoder.add(std::move(product));
  decoder.add(std::move(sum));
}

void nereid::sim::decodeInteger(Decoder &decoder) {
  if (decoder.has("cc"))
    return decoder.opcode() == "mad" ? decodeProductCarry(decoder) : decodeCarry(decoder);
  decoder.take("lo");
  integerForms().decode(decoder, decoder.takeType());
}

void nereid::sim::addIntegerOpcodes(OpcodeTable &table) {
  table.add("rem sad mul24 mad24", decodeInteger, Kind::Integer);
  table.add("dp4a dp2a", decodeDot, Kind::Integer);
  table.add("addc subc", decodeCarry, Kind::Integer);
  table.add("madc", decodeProductCarry, Kind::Integer);
}
