// Chooses the cheapest way to convert a layout.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Conversion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace nereid;
using namespace nereid::layout;

// Costs are in half cycles of a multiprocessor per warp. Shuffles and shared memory serve one warp's 32-bit word per
// cycle, selects two.
static constexpr unsigned kCostOfSelect = 1, kCostOfShuffle = 2, kCostOfWavefront = 2;
static constexpr unsigned kBytesOfWord = 4;
/// Latency of a store, a barrier and a load.
static constexpr unsigned kCostOfBarrier = 40;

unsigned layout::costOf(const ShufflePlan &plan, unsigned elemBits) {
  const unsigned wordsOfElement = std::max(1u, elemBits / 32);
  const unsigned moves = llvm::count_if(plan.rounds, [](const ShuffleRound &round) { return round.moves; });
  unsigned selects = plan.before.size() * plan.words.size() + plan.after.size() * plan.rounds.size();
  if (plan.words.front().size() > 1)
    selects += plan.words.size() + plan.results.size();
  return wordsOfElement * (moves * kCostOfShuffle + selects * kCostOfSelect);
}

/// Words whose elements come from several words, or go there: registers that are neighbours share a word.
static unsigned numMixedWords(const SharedAccess &access, unsigned elemBytes) {
  const unsigned perWord = std::min<unsigned>(access.registers.size(), std::max(1u, kBytesOfWord / elemBytes));
  unsigned count = 0;
  for (unsigned first = 0; first < access.registers.size(); first += perWord) {
    auto isNeighbour = [&](unsigned index) {
      return access.registers[first + index] == access.registers[first] + index;
    };
    count += access.registers[first] % perWord || !llvm::all_of(llvm::seq(1u, perWord), isNeighbour);
  }
  return count;
}

unsigned layout::costOf(const SharedPlan &plan) {
  unsigned cost = plan.repetitions * kCostOfBarrier;
  for (const SharedAccessPattern *side : {&plan.store, &plan.load})
    for (const SharedAccess &access : side->accesses)
      cost += side->wavefronts * kCostOfWavefront + 1 + numMixedWords(access, plan.elemBytes) * kCostOfSelect;
  return cost;
}

/// The source register of each destination register, if elements stay in their threads and the register does not depend
/// on the thread.
static std::optional<llvm::SmallVector<uint32_t, 16>> renamedRegisters(const LinearLayout &src,
                                                                       const LinearLayout &dst) {
  const LinearLayout map = dst.invertAndCompose(src);
  for (llvm::StringRef in : {llvm::StringRef(kLane), llvm::StringRef(kWarp), llvm::StringRef(kBlock)})
    for (unsigned bit = 0; bit < map.inBits(in); ++bit)
      for (llvm::StringRef out : map.outputNames())
        if (map.basis(in, bit, out) != (in == out ? int32_t(1) << bit : 0))
          return std::nullopt;
  if (!map.sublayoutIsZero(llvm::StringRef(kRegister), {kLane, kWarp, kBlock}))
    return std::nullopt;
  llvm::SmallVector<uint32_t, 16> registers;
  const LinearLayout renamed = map.sublayout(llvm::StringRef(kRegister), llvm::StringRef(kRegister));
  for (int32_t reg = 0; reg < dst.inSize(kRegister); ++reg)
    registers.push_back(renamed.applyFlat({{kRegister, reg}}));
  return registers;
}

bool layout::staysInWarps(const LinearLayout &src, const LinearLayout &dst) {
  const LinearLayout target = dst.transposeOuts(src.outputNames());
  BitSpan ofWarp(src.columns(kRegister));
  for (BitVector lane : src.columns(kLane))
    ofWarp.insert(lane);
  auto isHeld = [&](BitVector direction) { return ofWarp.contains(direction); };
  if (!llvm::all_of(target.columns(kRegister), isHeld) || !llvm::all_of(target.columns(kLane), isHeld))
    return false;
  BitSpan all(ofWarp);
  return llvm::all_of(llvm::zip_equal(src.columns(kWarp), target.columns(kWarp)), [&](auto warps) {
    const auto [before, after] = warps;
    return isHeld(before ^ after) && all.insert(before);
  });
}

/// Whether every warp's part of the buffer is the same in all repetitions of a plan that stays in warps: each
/// repetition is a direction of the warp's own elements that moves no offset.
static bool keepsParts(const SharedPlan &plan) {
  const LinearLayout &offsets = plan.store.offsets;
  BitSpan ofWarp(offsets.columns(kRegister));
  for (BitVector lane : offsets.columns(kLane))
    ofWarp.insert(lane);
  const unsigned offsetBits = offsets.outBits(kOffset);
  return llvm::all_of(llvm::seq(offsets.totalOutBits() - offsetBits),
                      [&](unsigned bit) { return ofWarp.contains(uint64_t(1) << (offsetBits + bit)); });
}

/// The cheapest plan; one with matrices needs no more memory than one without.
static SharedPlan planShared(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                             const SwizzleOptions &options) {
  SharedPlan best = swizzle(src, dst, elemBits, options);
  for (bool isStore : {true, false}) {
    if (!(isStore ? options.hasStmatrix : options.hasLdmatrix))
      continue;
    for (MatrixForm form : {MatrixForm::Rows, MatrixForm::Transposed}) {
      auto plan = swizzleForMatrices(src, dst, elemBits, isStore, form, options);
      if (plan && plan->bytes <= best.bytes && costOf(*plan) < costOf(best))
        best = std::move(*plan);
    }
  }
  return best;
}

ConversionPlan layout::planConversion(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                                      const SwizzleOptions &options) {
  ConversionPlan plan;
  if (auto renamed = renamedRegisters(src, dst)) {
    plan.sourceRegister = std::move(*renamed);
    bool isIdentity = src.inSize(kRegister) == dst.inSize(kRegister);
    for (auto [reg, source] : llvm::enumerate(plan.sourceRegister))
      isIdentity &= reg == source;
    plan.kind = isIdentity ? ConversionKind::None : ConversionKind::Registers;
    return plan;
  }
  std::optional<ShufflePlan> shuffle = planShuffle(src, dst, elemBits);
  const unsigned shuffleCost = shuffle ? costOf(*shuffle, elemBits) : ~0u;
  if (shuffleCost > kCostOfBarrier) {
    SharedPlan shared = planShared(src, dst, elemBits, options);
    shared.isWithinWarps = staysInWarps(src, dst) && keepsParts(shared);
    if (costOf(shared) < shuffleCost) {
      plan.kind = ConversionKind::Shared;
      plan.shared = std::move(shared);
      return plan;
    }
  }
  plan.kind = ConversionKind::Shuffle;
  plan.shuffle = std::move(*shuffle);
  return plan;
}
