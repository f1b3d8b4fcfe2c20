// Prints a plan's properties, one per line; bank conflicts are counted lane by lane, not taken from the plan.
// SPDX-License-Identifier: MIT
#include "tools/nereid-layout/PlanText.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace nereid;
using namespace nereid::layout;

static void printStages(llvm::StringRef title, llvm::ArrayRef<SelectStage> stages, llvm::raw_ostream &os) {
  for (const SelectStage &stage : stages)
    os << llvm::formatv("  {0}: i <-> i ^ {1} where lane & {2:x}, warp & {3:x} have odd parity\n", title,
                        stage.xorIndex, stage.laneMask, stage.warpMask);
}

static void printShuffle(const ShufflePlan &plan, unsigned elemBits, llvm::raw_ostream &os) {
  const unsigned moves = llvm::count_if(plan.rounds, [](const ShuffleRound &round) { return round.moves; });
  os << llvm::formatv("shuffle: {0} rounds, {1} of them move, {2} elements a word, cost {3}\n", plan.rounds.size(),
                      moves, plan.words.front().size(), costOf(plan, elemBits));
  printStages("before", plan.before, os);
  os << "  source lane: ";
  if (plan.isButterfly()) {
    os << "lane";
  } else {
    os << "lane bits [";
    llvm::interleaveComma(plan.laneBases, os);
    os << "], warp bits [";
    llvm::interleaveComma(plan.warpBases, os);
    os << "]";
  }
  os << "\n";
  for (auto [index, round] : llvm::enumerate(plan.rounds))
    os << llvm::formatv("  round {0}: word {1}, lane ^ {2}{3}\n", index, round.word, round.laneXor,
                        round.moves ? "" : ", in its lane");
  printStages("after", plan.after, os);
}

static void printSide(llvm::StringRef title, const SharedAccessPattern &side, unsigned elemBytes, unsigned numLanes,
                      unsigned numWarps, llvm::raw_ostream &os) {
  const Wavefronts counted = countWavefronts(side, elemBytes, numLanes, numWarps);
  const unsigned immediates =
      llvm::count_if(side.accesses, [&](const SharedAccess &access) { return side.isImmediate(access); });
  os << llvm::formatv(
      "  {0}: {1} x {2} bytes, {3} wavefronts each, {4} of them by bank conflicts, {5} with an immediate{6}\n", title,
      side.accesses.size(), side.vectorElems * elemBytes, counted.total, counted.conflicts, immediates,
      side.matrix == MatrixForm::None   ? ""
      : side.matrix == MatrixForm::Rows ? ", matrices"
                                        : ", transposed matrices");
  os << "    offsets: " << side.offsets.toString() << "\n";
  if (side.idleLanes || side.idleWarps)
    os << llvm::formatv("    idle: lanes with a bit of {0:x}, warps with a bit of {1:x}\n", side.idleLanes,
                        side.idleWarps);
}

static void printShared(const SharedPlan &plan, unsigned numLanes, unsigned numWarps, llvm::raw_ostream &os) {
  os << llvm::formatv("shared: {0} bytes, {1} repetitions, cost {2}\n", plan.bytes, plan.repetitions, costOf(plan));
  printSide("store", plan.store, plan.elemBytes, numLanes, numWarps, os);
  printSide("load", plan.load, plan.elemBytes, numLanes, numWarps, os);
}

void tools::printConversion(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                            const SwizzleOptions &options, llvm::raw_ostream &os) {
  const ConversionPlan plan = planConversion(src, dst, elemBits, options);
  switch (plan.kind) {
  case ConversionKind::None:
    os << "none: every register stays\n";
    return;
  case ConversionKind::Registers:
    os << "registers: ";
    llvm::interleaveComma(plan.sourceRegister, os);
    os << "\n";
    return;
  case ConversionKind::Shuffle:
    printShuffle(plan.shuffle, elemBits, os);
    return;
  case ConversionKind::Shared:
    printShared(plan.shared, src.inSize(kLane), src.inSize(kWarp), os);
    return;
  }
}

void tools::printReduction(const LinearLayout &src, unsigned axis, unsigned elemBits, llvm::raw_ostream &os) {
  const ReductionPlan plan = planReduction(src, axis, elemBits);
  os << llvm::formatv("reduction along {0}: {1} partials of {2} registers, {3} butterflies, {4} barriers, {5} bytes\n",
                      axis, plan.groups.size(), plan.groups.front().size(), plan.laneSteps.size(), plan.numBarriers(),
                      plan.bytes);
  for (const ReductionStep &step : plan.laneSteps)
    os << llvm::formatv("  lane ^ {0}, partial ^ {1}\n", step.laneXor, step.partialXor);
  if (plan.crossesWarps) {
    os << llvm::formatv("exchange: {0} parts read by a thread, {1} butterflies\n", plan.exchange.fanIn,
                        plan.exchange.laneSteps.size());
    printShared(plan.exchange.operands.front().plan, src.inSize(kLane), src.inSize(kWarp), os);
  }
  os << "result: " << plan.result.toString() << "\n";
}
