// Executes plans: threads in lockstep, shuffles as array reads, shared memory as a map from offsets.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/PlanExecutor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <optional>

using namespace nereid;
using namespace nereid::layout;
using test::Threads;

static uint32_t xorOf(llvm::ArrayRef<uint32_t> bases, unsigned value) {
  uint32_t sum = 0;
  for (unsigned bit = 0; bit < bases.size(); ++bit)
    if (value >> bit & 1)
      sum ^= bases[bit];
  return sum;
}

Threads test::fill(const LinearLayout &layout, const std::function<uint64_t(uint64_t)> &valueOf) {
  Threads threads(layout.inSize(kWarp), layout.inSize(kLane), layout.inSize(kRegister));
  for (unsigned warp = 0; warp < threads.numWarps; ++warp)
    for (unsigned lane = 0; lane < threads.numLanes; ++lane)
      for (unsigned reg = 0; reg < threads.numRegisters; ++reg)
        threads.at(warp, lane, reg) =
            valueOf(layout.applyFlat({{kRegister, int32_t(reg)}, {kLane, int32_t(lane)}, {kWarp, int32_t(warp)}}));
  return threads;
}

template <typename Value>
static void exchange(std::vector<Value> &values, llvm::ArrayRef<SelectStage> stages, unsigned lane, unsigned warp) {
  for (const SelectStage &stage : stages) {
    if ((llvm::popcount(lane & stage.laneMask) + llvm::popcount(warp & stage.warpMask)) % 2 == 0)
      continue;
    const std::vector<Value> old = values;
    for (size_t index = 0; index < values.size(); ++index)
      values[index] = old[index ^ stage.xorIndex];
  }
}

Threads test::shuffle(const ShufflePlan &plan, const Threads &source) {
  using Word = std::vector<uint64_t>;
  Threads result(source.numWarps, source.numLanes, plan.results.size());
  for (unsigned warp = 0; warp < source.numWarps; ++warp) {
    std::vector<std::vector<Word>> sent(source.numLanes);
    for (unsigned lane = 0; lane < source.numLanes; ++lane) {
      for (const auto &registers : plan.words) {
        Word &word = sent[lane].emplace_back();
        for (uint32_t reg : registers)
          word.push_back(source.at(warp, lane, reg));
      }
      exchange(sent[lane], plan.before, lane, warp);
    }
    for (unsigned lane = 0; lane < source.numLanes; ++lane) {
      const uint32_t from = xorOf(plan.laneBases, lane) ^ xorOf(plan.warpBases, warp);
      std::vector<Word> received;
      for (const ShuffleRound &round : plan.rounds)
        received.push_back(sent[round.moves ? from ^ round.laneXor : lane][round.word]);
      exchange(received, plan.after, lane, warp);
      for (unsigned reg = 0; reg < plan.results.size(); ++reg)
        result.at(warp, lane, reg) = received[plan.results[reg].round][plan.results[reg].subword];
    }
  }
  return result;
}

namespace {
/// Where an access finds one register of a lane.
struct Cell {
  uint32_t row;    ///< the offset of the 16 bytes, or of the vector
  uint32_t offset; ///< of the element
};
} // namespace

/// `index` counts the registers of the access. A lane's matrix elements are in rows that other lanes address.
static Cell cellOf(const SharedAccessPattern &side, const SharedAccess &access, unsigned elemBytes, unsigned warp,
                   unsigned lane, unsigned index) {
  const uint32_t base = xorOf(side.warpBases, warp) ^ access.offset;
  if (side.matrix == MatrixForm::None) {
    const uint32_t row = xorOf(side.laneBases, lane) ^ base;
    return {row, row + index};
  }
  const unsigned perWord = 4 / elemBytes, matrix = index / perWord, element = index % perWord;
  const bool isTransposed = side.matrix == MatrixForm::Transposed;
  const unsigned inMatrix = isTransposed ? 2 * (lane % 4) + element : lane / 4;
  const uint32_t row = xorOf(side.laneBases, 8 * matrix + inMatrix) ^ base;
  return {row, row + (isTransposed ? lane / 4 : lane % 4 * perWord + element)};
}

namespace {
struct Warps {
  unsigned first, end;
};
} // namespace

static void storeRepetition(const SharedPlan &plan, unsigned repetition, Warps warps, const Threads &source,
                            std::vector<std::optional<uint64_t>> &buffer, std::string &broken) {
  const SharedAccessPattern &side = plan.store;
  for (unsigned warp = warps.first; warp < warps.end; ++warp)
    for (unsigned lane = 0; lane < source.numLanes; ++lane) {
      if (lane & side.idleLanes || warp & side.idleWarps)
        continue;
      for (const SharedAccess &access : side.accesses) {
        if (access.repetition != repetition)
          continue;
        for (auto [index, reg] : llvm::enumerate(access.registers)) {
          const Cell cell = cellOf(side, access, plan.elemBytes, warp, lane, index);
          if (cell.row % side.vectorElems || cell.row + side.vectorElems > buffer.size())
            broken = "a store is unaligned or outside";
          std::optional<uint64_t> &slot = buffer[cell.offset % buffer.size()];
          if (slot)
            broken = "an element is stored twice";
          slot = source.at(warp, lane, reg);
        }
      }
    }
}

static void loadRepetition(const SharedPlan &plan, unsigned repetition, Warps warps, Threads &result,
                           const std::vector<std::optional<uint64_t>> &buffer, std::string &broken) {
  const SharedAccessPattern &side = plan.load;
  for (unsigned warp = warps.first; warp < warps.end; ++warp)
    for (unsigned lane = 0; lane < result.numLanes; ++lane)
      for (const SharedAccess &access : side.accesses) {
        if (access.repetition != repetition)
          continue;
        for (auto [index, reg] : llvm::enumerate(access.registers)) {
          const Cell cell = cellOf(side, access, plan.elemBytes, warp, lane, index);
          if (cell.row % side.vectorElems || cell.row + side.vectorElems > buffer.size())
            broken = "a load is unaligned or outside";
          const std::optional<uint64_t> &slot = buffer[cell.offset % buffer.size()];
          if (!slot)
            broken = "a load finds nothing";
          result.at(warp, lane, reg) = slot.value_or(0);
        }
      }
}

static void addCopies(const SharedPlan &plan, Threads &result) {
  for (unsigned warp = 0; warp < result.numWarps; ++warp)
    for (unsigned lane = 0; lane < result.numLanes; ++lane)
      for (unsigned reg = 0; reg < result.numRegisters; ++reg)
        result.at(warp, lane, reg) = result.at(warp, lane, plan.loadedAs[reg]);
}

Threads test::throughShared(const SharedPlan &plan, const Threads &source, std::string &broken) {
  Threads result(source.numWarps, source.numLanes, plan.loadedAs.size());
  const Warps all = {0, source.numWarps};
  for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
    std::vector<std::optional<uint64_t>> buffer(plan.bytes / plan.elemBytes);
    storeRepetition(plan, repetition, all, source, buffer, broken);
    loadRepetition(plan, repetition, all, result, buffer, broken);
  }
  addCopies(plan, result);
  return result;
}

Threads test::throughSharedByWarps(const SharedPlan &plan, const Threads &source, std::string &broken) {
  Threads result(source.numWarps, source.numLanes, plan.loadedAs.size());
  std::vector<std::optional<unsigned>> owners(plan.bytes / plan.elemBytes);
  for (unsigned warp = 0; warp < source.numWarps; ++warp)
    for (unsigned repetition = 0; repetition < plan.repetitions; ++repetition) {
      std::vector<std::optional<uint64_t>> buffer(owners.size());
      storeRepetition(plan, repetition, {warp, warp + 1}, source, buffer, broken);
      loadRepetition(plan, repetition, {warp, warp + 1}, result, buffer, broken);
      for (auto [owner, slot] : llvm::zip_equal(owners, buffer)) {
        if (slot && owner.value_or(warp) != warp)
          broken = "two warps store to one element";
        if (slot)
          owner = warp;
      }
    }
  addCopies(plan, result);
  return result;
}

Threads test::convert(const ConversionPlan &plan, const Threads &source, unsigned numResults) {
  std::string broken;
  switch (plan.kind) {
  case ConversionKind::Shuffle:
    return shuffle(plan.shuffle, source);
  case ConversionKind::Shared:
    return throughShared(plan.shared, source, broken);
  case ConversionKind::None:
  case ConversionKind::Registers:
    break;
  }
  Threads result(source.numWarps, source.numLanes, numResults);
  for (unsigned warp = 0; warp < source.numWarps; ++warp)
    for (unsigned lane = 0; lane < source.numLanes; ++lane)
      for (unsigned reg = 0; reg < numResults; ++reg)
        result.at(warp, lane, reg) = source.at(warp, lane, plan.sourceRegister[reg]);
  return result;
}

/// values[p] = combine(values[p], partner's values[p ^ partialXor]) for every step.
static void butterflies(Threads &values, llvm::ArrayRef<ReductionStep> steps, const test::Combine &combine) {
  for (const ReductionStep &step : steps) {
    const Threads old = values;
    for (unsigned warp = 0; warp < values.numWarps; ++warp)
      for (unsigned lane = 0; lane < values.numLanes; ++lane)
        for (unsigned reg = 0; reg < values.numRegisters; ++reg)
          values.at(warp, lane, reg) =
              combine(old.at(warp, lane, reg), old.at(warp, lane ^ step.laneXor, reg ^ step.partialXor));
  }
}

Threads test::reduce(const ReductionPlan &plan, unsigned operand, const Threads &source, const Combine &combine,
                     std::string &broken) {
  Threads partials(source.numWarps, source.numLanes, plan.groups.size());
  for (unsigned warp = 0; warp < source.numWarps; ++warp)
    for (unsigned lane = 0; lane < source.numLanes; ++lane)
      for (auto [partial, group] : llvm::enumerate(plan.groups)) {
        uint64_t &value = partials.at(warp, lane, partial) = source.at(warp, lane, group.front());
        for (uint32_t reg : llvm::ArrayRef(group).drop_front())
          value = combine(value, source.at(warp, lane, reg));
      }
  butterflies(partials, plan.laneSteps, combine);
  Threads result(source.numWarps, source.numLanes, plan.result.inSize(kRegister));
  if (!plan.crossesWarps) {
    for (unsigned warp = 0; warp < source.numWarps; ++warp)
      for (unsigned lane = 0; lane < source.numLanes; ++lane)
        for (unsigned reg = 0; reg < result.numRegisters; ++reg)
          result.at(warp, lane, reg) = partials.at(warp, lane, plan.resultPartial[reg]);
    return result;
  }
  const ReductionExchange &exchange = plan.exchange;
  const Threads loaded = throughShared(exchange.operands[operand].plan, partials, broken);
  for (unsigned warp = 0; warp < source.numWarps; ++warp)
    for (unsigned lane = 0; lane < source.numLanes; ++lane)
      for (unsigned reg = 0; reg < result.numRegisters; ++reg) {
        uint64_t &value = result.at(warp, lane, reg) = loaded.at(warp, lane, reg * exchange.fanIn);
        for (unsigned part = 1; part < exchange.fanIn; ++part)
          value = combine(value, loaded.at(warp, lane, reg * exchange.fanIn + part));
      }
  butterflies(result, exchange.laneSteps, combine);
  return result;
}
