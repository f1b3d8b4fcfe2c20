// Bitwise instructions: logic, shifts, bit fields, permutations of bytes.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Forms.h"
#include "runtime/sim/units/Opcodes.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
template <typename T> struct BitOps {
  using S = std::make_signed_t<T>;
  static constexpr uint32_t kBits = sizeof(T) * 8;
  static T conjunction(T a, T b) { return a & b; }
  static T disjunction(T a, T b) { return a | b; }
  static T exclusive(T a, T b) { return a ^ b; }
  static T complement(T a) { return T(~a); }
  static T isZero(T a) { return a == 0; }
  static T shiftLeft(T a, uint32_t by) { return by >= kBits ? T(0) : T(a << by); }
  static T shiftRight(T a, uint32_t by) { return by >= kBits ? T(0) : T(a >> by); }
  static S shiftRightSigned(S a, uint32_t by) { return S(a >> std::min(by, kBits - 1)); }
  static uint32_t count(T a) { return uint32_t(std::popcount(a)); }
  static uint32_t leadingZeros(T a) { return uint32_t(std::countl_zero(a)); }
  static T reverse(T a) {
    T result = 0;
    for (unsigned bit = 0; bit < kBits; ++bit)
      result |= T(a >> bit & 1) << (kBits - 1 - bit);
    return result;
  }
  static uint32_t highest(T a) { return a ? kBits - 1 - uint32_t(std::countl_zero(a)) : ~0u; }
  static uint32_t highestSigned(S a) { return highest(T(a < 0 ? ~a : a)); }
  static uint32_t highestShift(T a) { return a ? uint32_t(std::countl_zero(a)) : ~0u; }
  static uint32_t highestShiftSigned(S a) { return highestShift(T(a < 0 ? ~a : a)); }
  static T extract(T a, uint32_t begin, uint32_t length) {
    begin &= 0xff, length &= 0xff;
    const T field = begin >= kBits ? T(0) : T(a >> begin);
    return length >= kBits ? field : T(field & ((T(1) << length) - 1));
  }
  /// Bits above the field are its sign; the sign of a field that reaches beyond the value is the value's.
  static S extractSigned(S a, uint32_t begin, uint32_t length) {
    begin &= 0xff, length &= 0xff;
    if (length == 0)
      return 0;
    const uint32_t last = std::min(begin + length - 1, kBits - 1);
    const bool isNegative = T(a) >> last & 1;
    const T field = extract(T(a), begin, length);
    const uint32_t valid = begin >= kBits ? 0 : std::min(length, kBits - begin);
    const T high = valid >= kBits ? T(0) : T(~T(0) << valid);
    return S(isNegative ? field | high : field);
  }
  static T insert(T a, T b, uint32_t begin, uint32_t length) {
    begin &= 0xff, length &= 0xff;
    if (begin >= kBits || length == 0)
      return b;
    const T mask = T((length >= kBits ? ~T(0) : (T(1) << length) - 1) << begin);
    return T((b & ~mask) | (T(a << begin) & mask));
  }
};

uint32_t lookup3(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t result = 0;
  for (unsigned index = 0; index < 8; ++index)
    if (table >> index & 1)
      result |= (index & 4 ? a : ~a) & (index & 2 ? b : ~b) & (index & 1 ? c : ~c);
  return result;
}

uint64_t joined(uint32_t low, uint32_t high) { return uint64_t{high} << 32 | low; }
uint32_t funnelLeftWrap(uint32_t a, uint32_t b, uint32_t by) { return uint32_t(joined(a, b) << (by & 31) >> 32); }
uint32_t funnelRightWrap(uint32_t a, uint32_t b, uint32_t by) { return uint32_t(joined(a, b) >> (by & 31)); }
uint32_t funnelLeftClamp(uint32_t a, uint32_t b, uint32_t by) {
  return by >= 32 ? a : uint32_t(joined(a, b) << by >> 32);
}
uint32_t funnelRightClamp(uint32_t a, uint32_t b, uint32_t by) { return by >= 32 ? b : uint32_t(joined(a, b) >> by); }

uint32_t permute(uint32_t a, uint32_t b, uint32_t selector) {
  const uint64_t bytes = joined(a, b);
  uint32_t result = 0;
  for (unsigned index = 0; index < 4; ++index) {
    const uint32_t select = selector >> index * 4 & 15;
    uint8_t byte = uint8_t(bytes >> (select & 7) * 8);
    if (select & 8)
      byte = byte & 0x80 ? 0xff : 0;
    result |= uint32_t{byte} << index * 8;
  }
  return result;
}

enum class PermuteMode : uint8_t { F4e, B4e, Rc8, Ecl, Ecr, Rc16 };

template <PermuteMode Mode> uint32_t permuteMode(uint32_t a, uint32_t b, uint32_t selector) {
  const uint32_t s = selector & 3;
  uint32_t nibbles = 0;
  for (uint32_t index = 0; index < 4; ++index) {
    const uint32_t from = Mode == PermuteMode::F4e   ? s + index
                          : Mode == PermuteMode::B4e ? (s - index) & 7
                          : Mode == PermuteMode::Rc8 ? s
                          : Mode == PermuteMode::Ecl ? std::max(index, s)
                          : Mode == PermuteMode::Ecr ? std::min(index, s)
                                                     : (s & 1) * 2 + index % 2;
    nibbles |= from << index * 4;
  }
  return permute(a, b, nibbles);
}

uint32_t bitMaskClamp(uint32_t begin, uint32_t width) {
  if (begin >= 32 || width == 0)
    return 0;
  return (width >= 32 ? ~0u : (1u << width) - 1) << begin;
}
/// The low `width` bits of `a`, extended by their sign or by zeros.
template <bool IsSigned> uint32_t extendClamp(uint32_t a, uint32_t width) {
  if (width == 0 || width >= 32)
    return width ? a : 0;
  const uint32_t shift = 32 - width;
  return IsSigned ? uint32_t(int32_t(a << shift) >> shift) : a << shift >> shift;
}
template <bool IsSigned> uint32_t extendWrap(uint32_t a, uint32_t width) {
  return extendClamp<IsSigned>(a, width & 31);
}

/// The position of the set bit that is `offset` set bits from `base`, which counts as the first.
uint32_t findNthSet(uint32_t mask, uint32_t base, int32_t offset) {
  if (base > 31)
    return ~0u;
  if (offset == 0)
    return mask >> base & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  for (int at = int(base); at >= 0 && at < 32; at += step)
    if (mask >> at & 1 && (offset -= step) == 0)
      return uint32_t(at);
  return ~0u;
}

bool isSet(uint32_t a) { return a != 0; }
uint32_t bitMaskWrap(uint32_t begin, uint32_t width) {
  return ((width & 31) == 0 ? 0 : (1u << (width & 31)) - 1) << (begin & 31);
}
} // namespace

//--- forms ---------------------------------------------------------------------------------

template <typename T>
static void addBits(FormTable &forms, std::string_view plain, std::string_view isUnsigned, std::string_view isSigned) {
  using Ops = BitOps<T>;
  forms.add({plain, isUnsigned, isSigned}, {{"and", &decodeLanes<&Ops::conjunction>},
                                            {"or", &decodeLanes<&Ops::disjunction>},
                                            {"xor", &decodeLanes<&Ops::exclusive>},
                                            {"not", &decodeLanes<&Ops::complement>},
                                            {"cnot", &decodeLanes<&Ops::isZero>},
                                            {"shl", &decodeLanes<&Ops::shiftLeft>},
                                            {"popc", &decodeLanes<&Ops::count>},
                                            {"clz", &decodeLanes<&Ops::leadingZeros>},
                                            {"brev", &decodeLanes<&Ops::reverse>},
                                            {"bfi", &decodeLanes<&Ops::insert>}});
  forms.add({plain, isUnsigned}, {{"shr", &decodeLanes<&Ops::shiftRight>},
                                  {"bfe", &decodeLanes<&Ops::extract>},
                                  {"bfind", &decodeLanes<&Ops::highest>},
                                  {"bfind.shiftamt", &decodeLanes<&Ops::highestShift>}});
  forms.add({isSigned}, {{"shr", &decodeLanes<&Ops::shiftRightSigned>},
                         {"bfe", &decodeLanes<&Ops::extractSigned>},
                         {"bfind", &decodeLanes<&Ops::highestSigned>},
                         {"bfind.shiftamt", &decodeLanes<&Ops::highestShiftSigned>}});
}

template <bool IsSigned> static void addExtensions(FormTable &forms, std::string_view type) {
  forms.add({type},
            {{"szext", &decodeLanes<&extendClamp<IsSigned>>}, {"szext.wrap", &decodeLanes<&extendWrap<IsSigned>>}});
}

static void addWords(FormTable &forms) {
  forms.add({"b32"}, {{"bmsk", &decodeLanes<&bitMaskClamp>},
                      {"bmsk.wrap", &decodeLanes<&bitMaskWrap>},
                      {"fns", &decodeLanes<&findNthSet>},
                      {"lop3", &decodeLanes<&lookup3>},
                      {"shf.l", &decodeLanes<&funnelLeftWrap>},
                      {"shf.l.clamp", &decodeLanes<&funnelLeftClamp>},
                      {"shf.r", &decodeLanes<&funnelRightWrap>},
                      {"shf.r.clamp", &decodeLanes<&funnelRightClamp>},
                      {"prmt", &decodeLanes<&permute>},
                      {"prmt.f4e", &decodeLanes<&permuteMode<PermuteMode::F4e>>},
                      {"prmt.b4e", &decodeLanes<&permuteMode<PermuteMode::B4e>>},
                      {"prmt.rc8", &decodeLanes<&permuteMode<PermuteMode::Rc8>>},
                      {"prmt.ecl", &decodeLanes<&permuteMode<PermuteMode::Ecl>>},
                      {"prmt.ecr", &decodeLanes<&permuteMode<PermuteMode::Ecr>>},
                      {"prmt.rc16", &decodeLanes<&permuteMode<PermuteMode::Rc16>>}});
}

static const FormTable &logicForms() {
  static const FormTable table = [] {
    FormTable forms;
    addBits<uint16_t>(forms, "b16", "u16", "s16");
    addBits<uint32_t>(forms, "b32", "u32", "s32");
    addBits<uint64_t>(forms, "b64", "u64", "s64");
    forms.add({"pred"}, {{"and", &decodeLanes<&conjunction>},
                         {"or", &decodeLanes<&disjunction>},
                         {"xor", &decodeLanes<&exclusive>},
                         {"not", &decodeLanes<&negation>}});
    addExtensions<false>(forms, "u32"), addExtensions<true>(forms, "s32");
    addWords(forms);
    return forms;
  }();
  return table;
}

static void decodeLogic(Decoder &decoder) {
  logicForms().decode(decoder, decoder.takeType());
  decoder.takeOf({"clamp", "wrap"}); // that of the form without it
}

/// `lop3.or.b32 d|p, a, b, c, table, q`: p = (d != 0) or q.
static void decodeLookupWithPredicate(Decoder &decoder, Execute combine) {
  const Operand &to = decoder.operand(0);
  if (to.kind != OperandKind::Vector || to.parts.size() != 2 || decoder.operands().size() != 6)
    return decoder.fail("expects two results and five operands");
  Instruction lookup, test, combined;
  for (unsigned index = 1; index < 5; ++index)
    lookup.slots[index] = decoder.source(decoder.operand(index), 4);
  combined.slots[2] = decoder.source(decoder.operand(5), 0);
  lookup.execute = &Lanes<&lookup3>::run;
  test.execute = &Lanes<&isSet>::run;
  combined.execute = combine;
  test.slots[1] = lookup.slots[0] = decoder.destination(to.parts[0], 4);
  combined.slots[1] = test.slots[0] = decoder.allocate(0);
  combined.slots[0] = decoder.destination(to.parts[1], 0);
  decoder.add(std::move(lookup));
  decoder.add(std::move(test));
  decoder.add(std::move(combined));
}

static void decodeLookup(Decoder &decoder) {
  const bool isOr = decoder.take("or");
  if (!isOr && !decoder.take("and"))
    return decodeLogic(decoder);
  decoder.takeType();
  decodeLookupWithPredicate(decoder, isOr ? &Lanes<&disjunction>::run : &Lanes<&conjunction>::run);
}

void nereid::sim::addLogicOpcodes(OpcodeTable &table) {
  table.add("and", decodeLogic, Kind::Integer, ValueFlow::Mask);
  table.add("or bfi prmt", decodeLogic, Kind::Integer, ValueFlow::All);
  table.add("xor not cnot shl shr popc clz brev bfind bfe shf bmsk szext fns", decodeLogic, Kind::Integer);
  table.add("lop3", decodeLookup, Kind::Integer, ValueFlow::All);
}
