// Plans conversions inside warps.
// SPDX-License-Identifier: MIT
//
// Let C map a destination's (register, lane, warp) to the source's holder of the same element, with register part A and
// lane part B. In round k receiver l fills register k ^ F(l) ^ G(warp) and reads from lane M(l) ^ B(k), where M = B F +
// B on lanes. F is chosen to make M the identity where that is possible (then some rounds move nothing) and of full
// rank otherwise, so that in each round one register of a sender is read, which is a linear function of its own lane.
// Where two receivers need different registers of one sender for any F, unused registers are added to give more rounds.
#include "compiler/layout/Shuffle.h"

#include "llvm/ADT/STLExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

namespace {

/// C over GF(2), in words; each list has one column per bit of the destination's register, lane or warp.
struct WordMap {
  unsigned numLaneBits = 0;
  BitColumns regOfReg, regOfLane, regOfWarp;    ///< the A of each input
  BitColumns laneOfReg, laneOfLane, laneOfWarp; ///< the B of each input
};

/// F, G and M of the comment above, and Q: the register offset that a lane sends.
struct Exchange {
  BitColumns roundOfLane, roundOfWarp;
  BitColumns sourceLane, sourceLaneOfWarp;
  BitColumns sentOfLane, sentOfWarp;
};

/// The mapping of the destination's registers to rounds and subwords.
struct Packing {
  BitColumns subwords, words;             ///< destination selections: bases of both parts
  BitColumns sourceSubwords, sourceWords; ///< bases of the source's registers
};

} // namespace

bool ShufflePlan::isButterfly() const {
  for (auto [bit, base] : llvm::enumerate(laneBases))
    if (base != uint32_t(1) << bit)
      return false;
  return llvm::all_of(warpBases, [](uint32_t base) { return base == 0; });
}

/// C, or nothing if an element changes its warp or block.
static std::optional<WordMap> mapInsideWarps(const LinearLayout &src, const LinearLayout &dst) {
  const LinearLayout map = dst.invertAndCompose(src);
  WordMap result;
  result.numLaneBits = src.inBits(kLane);
  for (llvm::StringRef in : {llvm::StringRef(kRegister), llvm::StringRef(kLane), llvm::StringRef(kWarp)}) {
    BitColumns &registers = in == kRegister ? result.regOfReg : in == kLane ? result.regOfLane : result.regOfWarp;
    BitColumns &lanes = in == kRegister ? result.laneOfReg : in == kLane ? result.laneOfLane : result.laneOfWarp;
    for (unsigned bit = 0; bit < map.inBits(in); ++bit) {
      if (map.basis(in, bit, kWarp) != (in == kWarp ? int32_t(1) << bit : 0) || map.basis(in, bit, kBlock) != 0)
        return std::nullopt;
      registers.push_back(map.basis(in, bit, kRegister));
      lanes.push_back(map.basis(in, bit, kLane));
    }
  }
  return result;
}

/// Keeps the registers that are not copies: the result's bit i is the i-th such bit.
static void dropCopies(WordMap &map, uint64_t copies) {
  BitColumns registers, lanes;
  for (unsigned bit = 0; bit < map.regOfReg.size(); ++bit)
    if (!(copies >> bit & 1)) {
      registers.push_back(map.regOfReg[bit]);
      lanes.push_back(map.laneOfReg[bit]);
    }
  map.regOfReg = registers;
  map.laneOfReg = lanes;
}

/// Directions of both sides' registers whose elements always move together and may share a 32-bit word.
static Packing choosePacking(const WordMap &map, unsigned numSourceBits, unsigned elemBits) {
  Packing packing;
  BitColumns byThread = map.regOfLane;
  byThread.append(map.regOfWarp);
  const unsigned subwordBits = elemBits == 8 ? 2 : elemBits == 16 ? 1 : 0;
  BitSpan taken(byThread);
  for (BitVector direction : nullSpace(map.laneOfReg)) {
    if (packing.subwords.size() == subwordBits)
      break;
    const BitVector sourceDirection = multiply(map.regOfReg, direction);
    if (taken.contains(sourceDirection))
      continue;
    taken.insert(sourceDirection);
    packing.subwords.push_back(direction);
    packing.sourceSubwords.push_back(sourceDirection);
  }
  // The thread's part must stay in the source's word bits.
  byThread.append(unitVectors(numSourceBits));
  packing.sourceWords = extend(packing.sourceSubwords, byThread);
  BitColumns source = packing.sourceSubwords;
  source.append(packing.sourceWords);
  const BitSpan sourceSpan(source);
  const uint64_t subwordMask = (uint64_t(1) << packing.subwords.size()) - 1;
  for (BitVector word : extend(packing.subwords, unitVectors(map.regOfReg.size()))) {
    const uint64_t parts = sourceSpan.express(multiply(map.regOfReg, word)).value_or(0);
    packing.words.push_back(word ^ multiply(packing.subwords, parts & subwordMask));
  }
  return packing;
}

/// The map of registers as a map of the words that hold them.
static WordMap inWords(const WordMap &map, const Packing &packing) {
  BitColumns source = packing.sourceWords;
  source.append(packing.sourceSubwords);
  const BitSpan span(source);
  auto toWord = [&](BitVector reg) { return span.express(reg).value_or(0); };
  WordMap words = map;
  words.regOfReg.clear();
  words.laneOfReg.clear();
  for (BitVector word : packing.words) {
    words.regOfReg.push_back(toWord(multiply(map.regOfReg, word)));
    words.laneOfReg.push_back(multiply(map.laneOfReg, word));
  }
  for (BitColumns *columns : {&words.regOfLane, &words.regOfWarp})
    for (BitVector &column : *columns)
      column = toWord(column);
  return words;
}

/// Chooses F and M for one lane bit that cannot read from its own lane; `read` spans the lanes read so far.
static void chooseOtherLane(WordMap &map, Exchange &exchange, const BitSpan &read, unsigned bit) {
  const BitVector lane = map.laneOfLane[bit];
  if (!read.contains(lane))
    return;
  for (auto [index, column] : llvm::enumerate(map.laneOfReg))
    if (!read.contains(lane ^ column)) {
      exchange.roundOfLane[bit] = uint64_t(1) << index;
      exchange.sourceLane[bit] = lane ^ column;
      return;
    }
}

/// Receivers that read the same lane must need the same register: adds rounds where they do not.
static void separateReaders(WordMap &map, Exchange &exchange) {
  for (BitVector readers : nullSpace(exchange.sourceLane)) {
    const BitVector wanted =
        multiply(map.regOfLane, readers) ^ multiply(map.regOfReg, multiply(exchange.roundOfLane, readers));
    if (!wanted)
      continue;
    BitColumns staying = nullSpace(map.laneOfReg), offsets;
    for (BitVector rounds : staying)
      offsets.push_back(multiply(map.regOfReg, rounds));
    // The last reader bit is in no other null vector.
    BitVector &round = exchange.roundOfLane[63 - llvm::countl_zero(readers)];
    if (std::optional<uint64_t> selection = solve(offsets, wanted)) {
      round ^= multiply(staying, *selection);
      continue;
    }
    round ^= uint64_t(1) << map.regOfReg.size();
    map.regOfReg.push_back(wanted);
    map.laneOfReg.push_back(0);
  }
}

static Exchange chooseExchange(WordMap &map) {
  Exchange exchange;
  const unsigned numLanes = map.laneOfLane.size();
  exchange.roundOfLane.assign(numLanes, 0);
  exchange.sourceLane = map.laneOfLane;
  BitSpan read;
  llvm::SmallVector<unsigned, 6> others;
  for (unsigned bit = 0; bit < numLanes; ++bit) {
    const BitVector self = uint64_t(1) << bit;
    if (std::optional<uint64_t> rounds = solve(map.laneOfReg, self ^ map.laneOfLane[bit])) {
      exchange.roundOfLane[bit] = *rounds;
      exchange.sourceLane[bit] = self;
      read.insert(self);
    } else {
      others.push_back(bit);
    }
  }
  for (unsigned bit : others) {
    chooseOtherLane(map, exchange, read, bit);
    read.insert(exchange.sourceLane[bit]);
  }
  for (BitVector lane : map.laneOfWarp) {
    const std::optional<uint64_t> rounds = solve(map.laneOfReg, lane);
    exchange.roundOfWarp.push_back(rounds.value_or(0));
    exchange.sourceLaneOfWarp.push_back(rounds ? 0 : lane);
  }
  separateReaders(map, exchange);
  return exchange;
}

/// Q with Q M = A F + A on lanes: the register offset that a lane sends, by its own lane index.
static void chooseSent(const WordMap &map, Exchange &exchange) {
  BitColumns basis = exchange.sourceLane;
  basis.append(extend(exchange.sourceLane, unitVectors(map.numLaneBits)));
  const BitSpan span(basis);
  const uint64_t readers = (uint64_t(1) << exchange.sourceLane.size()) - 1;
  for (BitVector unit : unitVectors(map.numLaneBits)) {
    const uint64_t receiver = span.express(unit).value_or(0) & readers;
    exchange.sentOfLane.push_back(multiply(map.regOfLane, receiver) ^
                                  multiply(map.regOfReg, multiply(exchange.roundOfLane, receiver)));
  }
  for (auto [index, reg] : llvm::enumerate(map.regOfWarp))
    exchange.sentOfWarp.push_back(reg ^ multiply(map.regOfReg, exchange.roundOfWarp[index]) ^
                                  multiply(exchange.sentOfLane, exchange.sourceLaneOfWarp[index]));
}

/// Makes as few stages as the rank of the thread's part of the index.
static llvm::SmallVector<SelectStage, 4> makeStages(BitColumnsRef ofLane, BitColumnsRef ofWarp) {
  BitColumns all(ofLane);
  all.append(ofWarp.begin(), ofWarp.end());
  const BitColumns basis = extend({}, all);
  const BitSpan span(basis);
  llvm::SmallVector<SelectStage, 4> stages;
  for (BitVector index : basis)
    stages.push_back({0, 0, uint32_t(index)});
  auto addParts = [&](BitColumnsRef columns, uint32_t SelectStage::*mask) {
    for (auto [bit, column] : llvm::enumerate(columns)) {
      const uint64_t parts = span.express(column).value_or(0);
      for (auto [stage, selects] : llvm::enumerate(stages))
        selects.*mask |= uint32_t(parts >> stage & 1) << bit;
    }
  };
  addParts(ofLane, &SelectStage::laneMask);
  addParts(ofWarp, &SelectStage::warpMask);
  return stages;
}

static void makeRounds(const WordMap &map, const Exchange &exchange, ShufflePlan &plan) {
  plan.laneBases.assign(exchange.sourceLane.begin(), exchange.sourceLane.end());
  plan.warpBases.assign(exchange.sourceLaneOfWarp.begin(), exchange.sourceLaneOfWarp.end());
  const bool ownLane = plan.isButterfly();
  for (uint64_t round = 0; round < uint64_t(1) << map.regOfReg.size(); ++round) {
    const BitVector laneXor = multiply(map.laneOfReg, round);
    const BitVector word = multiply(map.regOfReg, round) ^ multiply(exchange.sentOfLane, laneXor);
    plan.rounds.push_back({uint32_t(word), uint32_t(laneXor), !ownLane || laneXor != 0});
  }
}

static void makeWords(const Packing &packing, ShufflePlan &plan) {
  for (uint64_t word = 0; word < uint64_t(1) << packing.sourceWords.size(); ++word) {
    llvm::SmallVector<uint32_t, 4> &registers = plan.words.emplace_back();
    for (uint64_t subword = 0; subword < uint64_t(1) << packing.sourceSubwords.size(); ++subword)
      registers.push_back(multiply(packing.sourceWords, word) ^ multiply(packing.sourceSubwords, subword));
  }
}

static void makeResults(const LinearLayout &dst, const Packing &packing, uint64_t copies, ShufflePlan &plan) {
  BitColumns keptColumns;
  for (auto [bit, column] : llvm::enumerate(dst.columns(kRegister)))
    if (!(copies >> bit & 1))
      keptColumns.push_back(column);
  const BitSpan keptSpan(keptColumns);
  BitColumns parts = packing.words;
  parts.append(packing.subwords);
  const BitSpan partSpan(parts);
  BitColumns partsOfBit;
  for (BitVector column : dst.columns(kRegister))
    partsOfBit.push_back(partSpan.express(keptSpan.express(column).value_or(0)).value_or(0));
  const unsigned wordBits = packing.words.size();
  for (int32_t reg = 0; reg < dst.inSize(kRegister); ++reg) {
    const uint64_t packedIndex = multiply(partsOfBit, reg);
    plan.results.push_back(
        {uint32_t(packedIndex & ((uint64_t(1) << wordBits) - 1)), uint32_t(packedIndex >> wordBits)});
  }
}

std::optional<ShufflePlan> layout::planShuffle(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits) {
  std::optional<WordMap> map = mapInsideWarps(src, dst);
  if (!map)
    return std::nullopt;
  const uint64_t copies = dependentColumns(dst.columns(kRegister));
  dropCopies(*map, copies);
  const Packing packing = choosePacking(*map, src.inBits(kRegister), elemBits);
  WordMap words = inWords(*map, packing);
  Exchange exchange = chooseExchange(words);
  chooseSent(words, exchange);

  ShufflePlan plan;
  makeWords(packing, plan);
  plan.before = makeStages(exchange.sentOfLane, exchange.sentOfWarp);
  makeRounds(words, exchange, plan);
  plan.after = makeStages(exchange.roundOfLane, exchange.roundOfWarp);
  makeResults(dst, packing, copies, plan);
  return plan;
}
