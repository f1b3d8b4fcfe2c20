// Exchanges between the lanes of a warp: shfl, vote, match, redux, elect.
// SPDX-License-Identifier: MIT
#include "runtime/sim/machine/SyncEvent.h"
#include "runtime/sim/units/Reduction.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
enum class ShuffleMode : uint8_t { Up, Down, Butterfly, Index };
struct ShuffleRoles {
  ShuffleMode mode;
  bool hasPredicate;
};
enum class VoteMode : uint8_t { All, Any, Uniform, Ballot };
struct MatchRoles {
  bool isAll, hasPredicate;
};
} // namespace

/// The named lanes execute a collective together: the first that come wait for the others.
static bool isReady(Warp &warp, const Instruction &instruction, uint32_t slot) {
  const unsigned first = unsigned(std::countr_zero(warp.mask));
  const uint32_t members = warp.at<uint32_t>(slot)[first];
  if (!hasConverged(warp, members))
    return false;
  tell(warp, {SyncKind::Collective, &instruction, warp.mask, nullptr, members});
  return true;
}

/// slots: result, predicate, a, b, c, members.
static Step shuffle(Warp &warp, const Instruction &instruction) {
  if (!isReady(warp, instruction, instruction.slots[5]))
    return Step::Wait;
  const auto [mode, hasPredicate] = instruction.roles<ShuffleRoles>();
  const auto *a = warp.at<uint32_t>(instruction.slots[2]), *b = warp.at<uint32_t>(instruction.slots[3]),
             *c = warp.at<uint32_t>(instruction.slots[4]);
  uint32_t values[kLanes], inRange = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int own = int(lane), by = int(b[lane] & 31);
    const uint32_t segment = c[lane] >> 8 & 31, clamp = c[lane] & 31;
    const int high = int((lane & segment) | (clamp & ~segment)), low = int(lane & segment);
    int from = own;
    bool isIn = true;
    switch (mode) {
    case ShuffleMode::Up:
      from = own - by, isIn = from >= high;
      break;
    case ShuffleMode::Down:
      from = own + by, isIn = from <= high;
      break;
    case ShuffleMode::Butterfly:
      from = own ^ by, isIn = from <= high;
      break;
    case ShuffleMode::Index:
      from = low | (by & ~int(segment)), isIn = from <= high;
      break;
    }
    values[lane] = a[isIn ? from : own];
    inRange |= uint32_t{isIn} << lane;
  }
  writeLanes(warp, instruction.slots[0], values);
  if (hasPredicate)
    writePredicate(warp, instruction.slots[1], inRange);
  return Step::Next;
}

static void decodeShuffle(Decoder &decoder) {
  static constexpr std::pair<std::string_view, ShuffleMode> modes[] = {{"up", ShuffleMode::Up},
                                                                       {"down", ShuffleMode::Down},
                                                                       {"bfly", ShuffleMode::Butterfly},
                                                                       {"idx", ShuffleMode::Index}};
  if (!decoder.take("sync"))
    return decoder.fail("shfl without `.sync` is not supported");
  const std::optional<ShuffleMode> mode = decoder.takeNamed(modes);
  if (!mode)
    return decoder.fail("this form is not known");
  decoder.takeType();
  Instruction instruction;
  for (unsigned index = 1; index < 5; ++index)
    instruction.slots[index + 1] = decoder.source(decoder.operand(index), 4);
  const auto [result, predicate] = decoder.resultAndPredicate(4);
  instruction.slots[0] = result, instruction.slots[1] = predicate.value_or(0);
  instruction.setRoles(ShuffleRoles{*mode, predicate.has_value()});
  instruction.execute = &shuffle;
  decoder.add(std::move(instruction));
}

//--- votes ---------------------------------------------------------------------------------

/// slots: result, predicate, members.
static Step vote(Warp &warp, const Instruction &instruction) {
  if (!isReady(warp, instruction, instruction.slots[2]))
    return Step::Wait;
  const uint32_t votes = warp.predicate(instruction.slots[1]) & warp.mask, all = warp.mask;
  const VoteMode mode = instruction.roles<VoteMode>();
  if (mode == VoteMode::Ballot) {
    uint32_t values[kLanes];
    std::fill_n(values, kLanes, votes);
    writeLanes(warp, instruction.slots[0], values);
    return Step::Next;
  }
  const bool result = mode == VoteMode::All   ? votes == all
                      : mode == VoteMode::Any ? votes != 0
                                              : votes == all || votes == 0;
  writePredicate(warp, instruction.slots[0], result ? kAllLanes : 0);
  return Step::Next;
}

static void decodeVote(Decoder &decoder) {
  static constexpr std::pair<std::string_view, VoteMode> modes[] = {
      {"all", VoteMode::All}, {"any", VoteMode::Any}, {"uni", VoteMode::Uniform}, {"ballot", VoteMode::Ballot}};
  if (!decoder.take("sync"))
    return decoder.fail("vote without `.sync` is not supported");
  const std::optional<VoteMode> mode = decoder.takeNamed(modes);
  if (!mode)
    return decoder.fail("this form is not known");
  decoder.takeType();
  decoder.emit(&vote, {*mode == VoteMode::Ballot ? 4u : 0u, 0, 4}).setRoles(*mode);
}

/// slots: result, predicate, value, members.
template <typename S> static Step match(Warp &warp, const Instruction &instruction) {
  if (!isReady(warp, instruction, instruction.slots[3]))
    return Step::Wait;
  const auto [isAll, hasPredicate] = instruction.roles<MatchRoles>();
  const S *value = warp.at<S>(instruction.slots[2]);
  uint32_t values[kLanes] = {};
  uint32_t isEqual = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    for (unsigned other = 0; other < kLanes; ++other)
      if (warp.isActive(other) && value[other] == value[lane])
        values[lane] |= 1u << other;
    if (isAll) {
      isEqual |= uint32_t{values[lane] == warp.mask} << lane;
      values[lane] = values[lane] == warp.mask ? warp.mask : 0;
    }
  }
  writeLanes(warp, instruction.slots[0], values);
  if (hasPredicate)
    writePredicate(warp, instruction.slots[1], isEqual);
  return Step::Next;
}

static void decodeMatch(Decoder &decoder) {
  decoder.take("sync");
  Instruction instruction;
  const bool isAll = decoder.takeOf({"any", "all"}) == "all";
  const unsigned bytes = bytesOfType(decoder.takeType());
  instruction.slots[2] = decoder.source(decoder.operand(1), bytes);
  instruction.slots[3] = decoder.source(decoder.operand(2), 4);
  const auto [result, predicate] = decoder.resultAndPredicate(4);
  instruction.slots[0] = result, instruction.slots[1] = predicate.value_or(0);
  instruction.setRoles(MatchRoles{isAll, predicate.has_value()});
  instruction.execute = bytes == 8 ? &match<uint64_t> : &match<uint32_t>;
  decoder.add(std::move(instruction));
}

//--- reductions ----------------------------------------------------------------------------

/// slots: result, value, members.
template <typename T> static Step reduceLanes(Warp &warp, const Instruction &instruction) {
  if (!isReady(warp, instruction, instruction.slots[2]))
    return Step::Wait;
  const auto op = instruction.roles<AtomicOp>();
  const auto *value = warp.at<uint32_t>(instruction.slots[1]);
  std::optional<T> total;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (warp.isActive(lane))
      total = total ? applyInteger(op, *total, T(value[lane])) : T(value[lane]);
  uint32_t values[kLanes];
  std::fill_n(values, kLanes, uint32_t(*total));
  writeLanes(warp, instruction.slots[0], values);
  return Step::Next;
}

static void decodeRedux(Decoder &decoder) {
  decoder.take("sync");
  const AtomicOp op = takeReduction(decoder);
  const bool isSigned = decoder.takeType() == "s32";
  decoder.emit(isSigned ? &reduceLanes<int32_t> : &reduceLanes<uint32_t>, {4, 4, 4}).setRoles(op);
}

/// elect.sync d|p, members: the lowest lane is elected.
static Step elect(Warp &warp, const Instruction &instruction) {
  if (!isReady(warp, instruction, instruction.slots[2]))
    return Step::Wait;
  const uint32_t leader = uint32_t(std::countr_zero(warp.mask));
  uint32_t values[kLanes];
  std::fill_n(values, kLanes, leader);
  writeLanes(warp, instruction.slots[0], values);
  writePredicate(warp, instruction.slots[1], 1u << leader);
  return Step::Next;
}
static void decodeElect(Decoder &decoder) {
  decoder.take("sync");
  Instruction instruction;
  const auto [result, predicate] = decoder.resultAndPredicate(4);
  if (!predicate)
    return decoder.fail("elect has two results");
  instruction.slots[0] = result, instruction.slots[1] = *predicate;
  instruction.slots[2] = decoder.source(decoder.operand(1), 4);
  instruction.execute = &elect;
  decoder.add(std::move(instruction));
}

void nereid::sim::addShuffleOpcodes(OpcodeTable &table) {
  table.add("shfl", decodeShuffle, Kind::Shuffle, ValueFlow::Lanes);
  table.add("vote", decodeVote, Kind::Shuffle, ValueFlow::Defined);
  table.add("match", decodeMatch, Kind::Shuffle, ValueFlow::Defined);
  table.add("redux", decodeRedux, Kind::Shuffle, ValueFlow::Defined);
  table.add("elect", decodeElect, Kind::Shuffle, ValueFlow::Defined);
}
