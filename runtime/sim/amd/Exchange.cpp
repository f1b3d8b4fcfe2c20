// Exchanges between the lanes of a wave: DPP, ds_bpermute, ds_swizzle, readlane, permlane and their like.
// SPDX-License-Identifier: MIT
#include "runtime/sim/amd/Instructions.h"
#include "runtime/sim/amd/Lanes.h"
#include "runtime/sim/machine/Decode.h"
#include "runtime/sim/machine/Wave.h"

using namespace nereid::sim;

namespace {
constexpr unsigned kMaxLanes = 64;
using Values = uint32_t[kMaxLanes];

/// A copy: results may be in the registers of sources.
void read(const Wave &wave, uint32_t slot, Values &values) {
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    values[lane] = wave.at<uint32_t>(slot, lane);
}
void write(const Wave &wave, uint32_t slot, const Values &values) {
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    if (wave.isActive(lane))
      wave.at<uint32_t>(slot, lane) = values[lane];
}
unsigned firstActive(const Wave &wave) { return unsigned(std::countr_zero(wave.active())); }

/// slots: result, address, value. A lane that is not active gives 0.
bool pullLanes(Wave &wave, const Instruction &instruction) {
  Values addresses, values, results;
  read(wave, instruction.slots[1], addresses), read(wave, instruction.slots[2], values);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const unsigned from = addresses[lane] / 4 % wave.lanes();
    results[lane] = wave.isActive(from) ? values[from] : 0;
  }
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, address, value. The highest of the lanes that write to one wins; a lane that gets nothing has 0.
bool pushLanes(Wave &wave, const Instruction &instruction) {
  Values addresses, values, results = {};
  read(wave, instruction.slots[1], addresses), read(wave, instruction.slots[2], values);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    if (wave.isActive(lane))
      results[addresses[lane] / 4 % wave.lanes()] = values[lane];
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, value, pattern.
bool swizzle(Wave &wave, const Instruction &instruction) {
  Values values, results;
  read(wave, instruction.slots[1], values);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const unsigned from = unsigned(swizzleSource(uint32_t(instruction.immediate), lane));
    results[lane] = wave.isActive(from) ? values[from] : 0;
  }
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, old, value. The immediate has the control, the masks of rows and banks, and whether a lane without a
/// source gets 0.
struct Dpp {
  uint32_t control;
  uint8_t rowMask, bankMask, hasBoundControl, unused;
};
static_assert(sizeof(Dpp) == 8);

bool dpp(Wave &wave, const Instruction &instruction) {
  const Dpp form = std::bit_cast<Dpp>(instruction.immediate);
  Values old, values, results;
  read(wave, instruction.slots[1], old), read(wave, instruction.slots[2], values);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const bool isWritten = form.rowMask >> lane / 16 % 4 & 1 && form.bankMask >> lane / 4 % 4 & 1;
    const int from = dppSource(form.control, lane, wave.lanes());
    const bool hasSource = from >= 0 && wave.isActive(unsigned(from));
    results[lane] = !isWritten ? old[lane] : hasSource ? values[from] : form.hasBoundControl ? 0 : old[lane];
  }
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, value, lane (not of readfirstlane). One lane's value for all.
template <bool IsFirst> bool readLane(Wave &wave, const Instruction &instruction) {
  const unsigned first = firstActive(wave);
  const unsigned from = IsFirst ? first : wave.at<uint32_t>(instruction.slots[2], first) % wave.lanes();
  Values results;
  std::fill_n(results, kMaxLanes, wave.at<uint32_t>(instruction.slots[1], from));
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, value, lane, old.
bool writeLane(Wave &wave, const Instruction &instruction) {
  const unsigned first = firstActive(wave);
  Values results;
  read(wave, instruction.slots[3], results);
  results[wave.at<uint32_t>(instruction.slots[2], first) % wave.lanes()] =
      wave.at<uint32_t>(instruction.slots[1], first);
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, old, value, low and high selectors of four bits for each lane of a row. The immediate: 1 lanes that
/// are not active are read, too; 2 a lane without a source gets 0.
template <unsigned RowBit> bool permuteRows(Wave &wave, const Instruction &instruction) {
  Values old, values, results;
  read(wave, instruction.slots[1], old), read(wave, instruction.slots[2], values);
  const unsigned first = firstActive(wave);
  const uint64_t selectors =
      wave.at<uint32_t>(instruction.slots[3], first) | uint64_t{wave.at<uint32_t>(instruction.slots[4], first)} << 32;
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const unsigned from = ((lane & ~15u) ^ RowBit) | unsigned(selectors >> lane % 16 * 4 & 15);
    results[lane] = wave.isActive(from) || instruction.immediate & 1 ? values[from]
                    : instruction.immediate & 2                      ? 0
                                                                     : old[lane];
  }
  return write(wave, instruction.slots[0], results), true;
}

/// slots: result, value.
bool swapHalves(Wave &wave, const Instruction &instruction) {
  Values values, results;
  read(wave, instruction.slots[1], values);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const unsigned from = (lane ^ 32) % wave.lanes();
    results[lane] = wave.isActive(from) ? values[from] : 0;
  }
  return write(wave, instruction.slots[0], results), true;
}

/// slots: two results, two values. Odd groups of `Group` lanes of the first change places with even ones of the second.
template <unsigned Group> bool swapGroups(Wave &wave, const Instruction &instruction) {
  Values first, second, newFirst, newSecond;
  read(wave, instruction.slots[2], first), read(wave, instruction.slots[3], second);
  for (unsigned lane = 0; lane < wave.lanes(); ++lane) {
    const bool isOdd = lane & Group;
    newFirst[lane] = isOdd ? second[lane ^ Group] : first[lane];
    newSecond[lane] = isOdd ? second[lane] : first[lane ^ Group];
  }
  write(wave, instruction.slots[0], newFirst), write(wave, instruction.slots[1], newSecond);
  return true;
}

struct BallotRoles {
  bool isWide; ///< the result has 64 bits
};

/// slots: result, a value whose zero counts as false.
bool ballot(Wave &wave, const Instruction &instruction) {
  const bool isWide = instruction.roles<BallotRoles>().isWide;
  uint64_t votes = 0;
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    votes |= uint64_t{wave.isActive(lane) && wave.at<uint32_t>(instruction.slots[1], lane)} << lane;
  for (unsigned lane = 0; lane < wave.lanes(); ++lane)
    if (wave.isActive(lane))
      isWide ? void(wave.at<uint64_t>(instruction.slots[0], lane) = votes)
             : void(wave.at<uint32_t>(instruction.slots[0], lane) = uint32_t(votes));
  return true;
}

//--- decoding ------------------------------------------------------------------------------

/// Registers in the order of the text: the results, then the sources; `numImmediates` operands follow.
struct Form {
  const char *name;
  Execute execute;
  uint8_t numResults, numSources, numImmediates;
};
constexpr Form kForms[] = {
    {"ds_bpermute", &together<&pullLanes>, 1, 2, 0},
    {"ds_permute", &together<&pushLanes>, 1, 2, 0},
    {"ds_swizzle", &together<&swizzle>, 1, 1, 1},
    {"dpp", &together<&dpp>, 1, 2, 4},
    {"readfirstlane", &together<&readLane<true>>, 1, 1, 0},
    {"readlane", &together<&readLane<false>>, 1, 2, 0},
    {"writelane", &together<&writeLane>, 1, 3, 0},
    {"permlane16", &together<&permuteRows<0>>, 1, 4, 1},
    {"permlanex16", &together<&permuteRows<16>>, 1, 4, 1},
    {"permlane64", &together<&swapHalves>, 1, 1, 0},
    {"permlane16_swap", &together<&swapGroups<16>>, 2, 2, 0},
    {"permlane32_swap", &together<&swapGroups<32>>, 2, 2, 0},
    {"ballot", &together<&ballot>, 1, 1, 0},
};
} // namespace

/// The immediates of DPP are its control, two masks and a bit; other instructions have one.
static uint64_t immediateOf(Decoder &decoder, const Form &form) {
  const auto number = [&](unsigned index) {
    const Operand &operand = decoder.operand(form.numResults + form.numSources + index);
    if (operand.kind != OperandKind::Integer)
      decoder.fail("an immediate is expected");
    return uint32_t(operand.bits);
  };
  if (form.execute == &together<&swizzle> && number(0) >= 0xe000)
    decoder.fail("this pattern is not known");
  if (form.numImmediates < 4)
    return form.numImmediates ? number(0) : 0;
  const Dpp dpp{number(0), uint8_t(number(1)), uint8_t(number(2)), uint8_t(number(3) & 1), 0};
  if (!isDppControl(dpp.control))
    decoder.fail("this control is not known");
  return std::bit_cast<uint64_t>(dpp);
}

void nereid::sim::decodeLaneExchange(Decoder &decoder) {
  const Form *form = nullptr;
  for (const Form &each : kForms)
    if (decoder.take(each.name))
      form = &each;
  const std::string type = decoder.takeType();
  if (decoder.operands().size() != size_t(form->numResults + form->numSources + form->numImmediates))
    return decoder.fail("another number of operands");
  const bool isWide = type == "b64";
  if (isWide && form->execute != &together<&ballot>)
    return decoder.fail("the lanes have 32 bits");
  Instruction instruction;
  instruction.execute = form->execute;
  instruction.setRoles(BallotRoles{isWide});
  for (unsigned index = 0; index < form->numSources; ++index) {
    const unsigned at = form->numResults + index;
    instruction.slots[at] = decoder.source(decoder.operand(at), 4);
  }
  for (unsigned index = 0; index < form->numResults; ++index)
    instruction.slots[index] = decoder.destination(decoder.operand(index), isWide ? 8 : 4);
  instruction.immediate = immediateOf(decoder, *form);
  decoder.setFlow(ValueFlow::Defined);
  decoder.addOfWave(std::move(instruction));
}
