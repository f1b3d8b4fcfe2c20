// Integer arithmetic: add to rem, mad, min and max, extended precision, sad, dot products of bytes.
// SPDX-License-Identifier: MIT
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

/// Calls `f` with a value of the integer type of that name.
template <typename F> static void withInteger(Decoder &decoder, const std::string &type, F f) {
  if (type == "s32" || type == "b32")
    return f(int32_t{});
  if (type == "u32")
    return f(uint32_t{});
  if (type == "s64" || type == "b64")
    return f(int64_t{});
  if (type == "u64")
    return f(uint64_t{});
  if (type == "s16" || type == "b16")
    return f(int16_t{});
  if (type == "u16")
    return f(uint16_t{});
  decoder.fail("the type `." + type + "` is not known here");
}

#define NEREID_SIM_INTEGER(METHOD)                                                                                     \
  withInteger(decoder, type, [&](auto zero) { decoder.lanes<&IntegerOps<decltype(zero)>::METHOD>(); })

static bool packedMinMax(Decoder &decoder, const std::string &type, bool isMax) {
  if (type == "s16x2" && decoder.take("relu"))
    return isMax ? decoder.lanes<&both<&IntegerOps<int16_t>::maxRelu, int16_t>>()
                 : decoder.lanes<&both<&IntegerOps<int16_t>::minRelu, int16_t>>(),
           true;
  if (type == "s16x2")
    isMax ? decoder.lanes<&both<&IntegerOps<int16_t>::max, int16_t>>()
          : decoder.lanes<&both<&IntegerOps<int16_t>::min, int16_t>>();
  else if (type == "u16x2")
    isMax ? decoder.lanes<&both<&IntegerOps<uint16_t>::max, uint16_t>>()
          : decoder.lanes<&both<&IntegerOps<uint16_t>::min, uint16_t>>();
  else
    return false;
  return true;
}

void nereid::sim::decodeIntegerArithmetic(Decoder &decoder, const std::string &type) {
  const std::string &name = decoder.opcode();
  const bool isSaturated = decoder.take("sat");
  if (name == "add" && (type == "u16x2" || type == "s16x2"))
    return decoder.lanes<&both<&IntegerOps<int16_t>::add, int16_t>>();
  if ((name == "min" || name == "max") && packedMinMax(decoder, type, name == "max"))
    return;
  if (name == "add" || name == "sub") {
    if (isSaturated)
      return name == "add" ? NEREID_SIM_INTEGER(addSaturated) : NEREID_SIM_INTEGER(subSaturated);
    return name == "add" ? NEREID_SIM_INTEGER(add) : NEREID_SIM_INTEGER(sub);
  }
  if (name == "min" || name == "max") {
    if (decoder.take("relu"))
      return name == "min" ? NEREID_SIM_INTEGER(minRelu) : NEREID_SIM_INTEGER(maxRelu);
    return name == "min" ? NEREID_SIM_INTEGER(min) : NEREID_SIM_INTEGER(max);
  }
  if (name == "div")
    return NEREID_SIM_INTEGER(div);
  if (name == "abs")
    return NEREID_SIM_INTEGER(abs);
  if (name == "neg")
    return NEREID_SIM_INTEGER(neg);
  decoder.fail("this form is not known");
}

void nereid::sim::decodeIntegerProduct(Decoder &decoder, const std::string &type) {
  const bool isMad = decoder.opcode() == "mad";
  if (decoder.has("cc"))
    return decodeProductCarry(decoder, type);
  if (decoder.take("wide")) {
    if (type == "s32")
      return isMad ? decoder.lanes<&WideOps<int32_t>::mad>() : decoder.lanes<&WideOps<int32_t>::mul>();
    if (type == "u32")
      return isMad ? decoder.lanes<&WideOps<uint32_t>::mad>() : decoder.lanes<&WideOps<uint32_t>::mul>();
    if (type == "s16")
      return isMad ? decoder.lanes<&WideOps<int16_t>::mad>() : decoder.lanes<&WideOps<int16_t>::mul>();
    return isMad ? decoder.lanes<&WideOps<uint16_t>::mad>() : decoder.lanes<&WideOps<uint16_t>::mul>();
  }
  if (decoder.take("hi")) {
    if (isMad && type == "s32" && decoder.take("sat"))
      return decoder.lanes<&IntegerOps<int32_t>::madHighSaturated>();
    return isMad ? NEREID_SIM_INTEGER(madHigh) : NEREID_SIM_INTEGER(mulHigh);
  }
  decoder.take("lo");
  isMad ? NEREID_SIM_INTEGER(madLow) : NEREID_SIM_INTEGER(mulLow);
}

static void decodeRem(Decoder &decoder) {
  const std::string type = decoder.takeType();
  NEREID_SIM_INTEGER(rem);
}
static void decodeSad(Decoder &decoder) {
  const std::string type = decoder.takeType();
  NEREID_SIM_INTEGER(sad);
}

static void decodeProduct24(Decoder &decoder) {
  const bool isHigh = decoder.take("hi");
  decoder.take("lo");
  const bool isSigned = decoder.takeType() == "s32";
  if (decoder.opcode() == "mad24") {
    if (!isHigh)
      return isSigned ? decoder.lanes<&mad24Low<int32_t>>() : decoder.lanes<&mad24Low<uint32_t>>();
    if (isSigned && decoder.take("sat"))
      return decoder.lanes<&mad24HighSaturated>();
    return isSigned ? decoder.lanes<&mad24High<int32_t>>() : decoder.lanes<&mad24High<uint32_t>>();
  }
  if (isHigh)
    return isSigned ? decoder.lanes<&mul24High<int32_t>>() : decoder.lanes<&mul24High<uint32_t>>();
  isSigned ? decoder.lanes<&mul24Low<int32_t>>() : decoder.lanes<&mul24Low<uint32_t>>();
}

static void decodeDotBytes(Decoder &decoder) {
  const bool isLeftSigned = decoder.takeType() == "s32", isRightSigned = decoder.takeType() == "s32";
  if (isLeftSigned)
    return isRightSigned ? decoder.lanes<&dotBytes<int8_t, int8_t>>() : decoder.lanes<&dotBytes<int8_t, uint8_t>>();
  isRightSigned ? decoder.lanes<&dotBytes<uint8_t, int8_t>>() : decoder.lanes<&dotBytes<uint8_t, uint8_t>>();
}

template <unsigned Shift> static void decodeDotOfHalves(Decoder &decoder) {
  const bool isLeftSigned = decoder.takeType() == "s32", isRightSigned = decoder.takeType() == "s32";
  if (isLeftSigned)
    return isRightSigned ? decoder.lanes<&dotHalves<int16_t, int8_t, Shift>>()
                         : decoder.lanes<&dotHalves<int16_t, uint8_t, Shift>>();
  isRightSigned ? decoder.lanes<&dotHalves<uint16_t, int8_t, Shift>>()
                : decoder.lanes<&dotHalves<uint16_t, uint8_t, Shift>>();
}
static void decodeDotHalves(Decoder &decoder) {
  decoder.take("hi")   ? decodeDotOfHalves<16>(decoder)
  : decoder.take("lo") ? decodeDotOfHalves<0>(decoder)
                       : decoder.fail("this form is not known");
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

void nereid::sim::decodeCarry(Decoder &decoder, const std::string &type) {
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
void nereid::sim::decodeProductCarry(Decoder &decoder, const std::string &type) {
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
static void decodeProductCarryOnly(Decoder &decoder) { decodeProductCarry(decoder, decoder.takeType()); }
static void decodeCarryOnly(Decoder &decoder) { decodeCarry(decoder, decoder.takeType()); }

std::span<const OpcodeEntry> nereid::sim::integerOpcodes() {
  static const OpcodeEntry entries[] = {
      {"rem", decodeRem},         {"sad", decodeSad},        {"mul24", decodeProduct24},
      {"mad24", decodeProduct24}, {"dp4a", decodeDotBytes},  {"dp2a", decodeDotHalves},
      {"addc", decodeCarryOnly},  {"subc", decodeCarryOnly}, {"madc", decodeProductCarryOnly}};
  return entries;
}
