// Runs the warps of a cluster in turns: chooses among the splits of a warp, merges them, and finds deadlocks.
// SPDX-License-Identifier: MIT
//
// The split with the lowest pc runs first. A block that ends a branch comes after its sides in code that a compiler has
// laid out, so lanes meet there again. A split that runs for long gives way to the others, which may hold what it waits
// for.
#include "runtime/sim/machine/Async.h"
#include "runtime/sim/machine/Observer.h"
#include "runtime/sim/machine/Report.h"
#include "runtime/sim/machine/Wave.h"

#include <algorithm>

using namespace nereid::sim;

namespace {
constexpr uint32_t kTurnInstructions = 8192;
constexpr uint64_t kDefaultLimit = uint64_t{1} << 30; // about a minute

/// One visit of the scheduler at a warp.
class Visit {
public:
  explicit Visit(Warp &warp) : warp(warp), cluster(*warp.cta->cluster), code(cluster.code->instructions.data()) {}
  /// Whether any instruction was completed.
  bool run();

private:
  void mergeSplits();
  bool select();
  template <bool IsObserved> void runSplit();
  bool meetsOther() const;
  void issued(const Instruction &instruction, uint32_t candidates, uint32_t mask);

  Warp &warp;
  Cluster &cluster;
  const Instruction *code;
  uint32_t budget = kTurnInstructions;
  bool hasProgress = false, isOver = false;
};
} // namespace

uint64_t Cluster::nextRandom() {
  random += 0x9e3779b97f4a7c15;
  uint64_t z = random;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

bool Cluster::completesEarly() { return launch->seed && (launch->seed == 1 || nextRandom() & 1); }

//--- splits --------------------------------------------------------------------------------

Step nereid::sim::branch(Warp &warp, uint32_t taken, uint32_t pc) {
  Split &split = warp.split();
  if (taken == split.mask) {
    split.pc = pc;
    return Step::Jump;
  }
  Split other = split;
  other.mask = taken;
  other.pc = pc;
  split.mask &= ~taken;
  ++split.pc;
  warp.splits.push_back(other);
  return Step::Jump;
}

Step nereid::sim::exitLanes(Warp &warp, uint32_t lanes) {
  warp.exited |= lanes;
  warp.cta->cluster->threadsLeft -= unsigned(std::popcount(lanes));
  Split &split = warp.split();
  split.mask &= ~lanes;
  ++split.pc;
  if (!split.mask)
    warp.splits.erase(warp.splits.begin() + ptrdiff_t(warp.current));
  return Step::Jump;
}

bool nereid::sim::hasConverged(const Warp &warp, uint32_t members) {
  return (members & ~warp.exited & ~warp.mask) == 0;
}

/// Lanes that are in the middle of an instruction are joined by no others.
static bool isHeld(const Split &split) { return split.hasArrived || split.hasMet; }

void Visit::mergeSplits() {
  std::vector<Split> &splits = warp.splits;
  for (size_t first = 0; first < splits.size(); ++first)
    for (size_t second = first + 1; second < splits.size();) {
      if (splits[first].pc != splits[second].pc || isHeld(splits[first]) || isHeld(splits[second])) {
        ++second;
        continue;
      }
      splits[first].mask |= splits[second].mask;
      splits[first].turn = std::min(splits[first].turn, splits[second].turn);
      splits[first].isWaiting = false;
      splits[first].isReleased |= splits[second].isReleased;
      splits.erase(splits.begin() + ptrdiff_t(second));
    }
}

bool Visit::select() {
  if (warp.splits.size() > 1)
    mergeSplits();
  const Split *best = nullptr;
  for (const Split &split : warp.splits)
    if (!split.isWaiting && (!best || split.turn < best->turn || (split.turn == best->turn && split.pc < best->pc)))
      best = &split;
  if (!best)
    return false;
  warp.current = size_t(best - warp.splits.data());
  return true;
}

bool Visit::meetsOther() const {
  const Split &own = warp.splits[warp.current];
  for (const Split &split : warp.splits)
    if (&split != &own && split.pc == own.pc)
      return true;
  return false;
}

template <bool IsObserved> void Visit::runSplit() {
  const size_t numSplits = warp.splits.size();
  uint64_t threadInstructions = 0;
  uint32_t left = budget;
  while (left) {
    --left;
    Split &split = warp.splits[warp.current];
    const Instruction &instruction = code[split.pc];
    uint32_t mask = split.mask;
    [[maybe_unused]] const uint32_t candidates = mask;
    if (instruction.guard >= 0) {
      const uint32_t guard = warp.predicate(uint32_t(instruction.guard));
      mask &= instruction.isGuardNegated ? ~guard : guard;
    }
    threadInstructions += unsigned(std::popcount(mask));
    Step step = Step::Next;
    if (mask) {
      warp.mask = mask;
      step = instruction.execute(warp, instruction);
    }
    if (IsObserved && step != Step::Wait && step != Step::Fail) {
      issued(instruction, candidates, mask);
      if (isOver)
        break;
    }
    if (step == Step::Next) {
      hasProgress = true;
      ++split.pc;
      if (numSplits > 1 && meetsOther())
        break;
    } else if (step == Step::Jump) {
      hasProgress = true;
      if (warp.splits.size() != numSplits || (numSplits > 1 && meetsOther()))
        break;
    } else if (step == Step::Yield) {
      hasProgress = true;
      ++split.pc;
      split.turn = ++warp.turns;
      isOver = true;
      break;
    } else {
      split.isWaiting = step == Step::Wait;
      isOver = step == Step::Fail;
      threadInstructions -= unsigned(std::popcount(mask));
      break;
    }
  }
  if (!left && warp.current < warp.splits.size())
    warp.splits[warp.current].turn = ++warp.turns;
  cluster.instructions += budget - left;
  cluster.threadInstructions += threadInstructions;
  budget = left;
}

void Visit::issued(const Instruction &instruction, uint32_t candidates, uint32_t mask) {
  warp.candidates = candidates;
  warp.mask = mask;
  for (const std::shared_ptr<Observer> &observer : cluster.observers)
    observer->onIssue(warp, instruction);
  isOver |= cluster.error.has_value();
}

bool Visit::run() {
  for (Split &split : warp.splits)
    split.isWaiting = false;
  while (budget && !isOver && select())
    cluster.isObserved ? runSplit<true>() : runSplit<false>();
  return hasProgress;
}

//--- clusters ------------------------------------------------------------------------------

/// Completes one asynchronous operation that nobody waits for by name; false where there is none.
static bool completeOne(Cluster &cluster) {
  if (cluster.unordered.empty())
    return false;
  const size_t index = cluster.launch->seed ? cluster.nextRandom() % cluster.unordered.size() : 0;
  auto perform = std::move(cluster.unordered[index]);
  cluster.unordered.erase(cluster.unordered.begin() + ptrdiff_t(index));
  perform();
  return true;
}

/// What is left to do once all threads have ended, or one has failed.
static void finishCluster(Cluster &cluster) {
  while (!cluster.error && completeOne(cluster))
    ;
  // Stores that nobody has waited for.
  for (Cta &cta : cluster.ctas)
    for (Warp &warp : cta.warps)
      for (AsyncGroups &groups : warp.bulkStores)
        if (!cluster.error)
          waitForAll(groups);
  for (const std::shared_ptr<Observer> &observer : cluster.observers)
    observer->onEnd(cluster);
}

void nereid::sim::runCluster(Cluster &cluster, uint64_t budget) {
  const uint64_t limit = cluster.launch->maxInstructions ? cluster.launch->maxInstructions : kDefaultLimit;
  const size_t numWarps = cluster.ctas[0].warps.size(), count = cluster.ctas.size() * numWarps;
  const bool hasWaves = cluster.code->hasWaves;
  std::vector<uint8_t> progress(hasWaves ? count : 0);
  const uint64_t end = cluster.instructions + budget;
  if (isWaiting(cluster))
    cluster.polls = 0;
  cluster.hasArrived = false;
  while (!hasEnded(cluster)) {
    if (isWaiting(cluster) || cluster.hasArrived || cluster.instructions >= end)
      return;
    bool hasProgress = false;
    const size_t begin = cluster.launch->seed ? cluster.nextRandom() % count : 0;
    for (size_t index = 0; index < count && !cluster.error; ++index) {
      const size_t at = (begin + index) % count;
      Warp &warp = cluster.ctas[at / numWarps].warps[at % numWarps];
      const bool hasRun = !warp.splits.empty() && Visit(warp).run();
      hasProgress |= hasRun;
      if (hasWaves)
        progress[at] = hasRun;
    }
    if (hasWaves && !cluster.error)
      hasProgress |= releaseDivergedWaves(cluster, progress);
    if (cluster.instructions > limit && !cluster.error)
      cluster.error = Error{"sim-limit", "a program has run " + std::to_string(limit) + " instructions of warps" +
                                             warpsText(cluster)};
    // A busy thread may poll for an operation, so that one completes now and then.
    const bool completes =
        !hasProgress || (cluster.launch->seed ? cluster.nextRandom() % 4 == 0 : ++cluster.rounds % 16 == 0);
    if (completes && !completeOne(cluster) && !hasProgress && cluster.threadsLeft && !cluster.error)
      cluster.error = Error{"sim-deadlock", "deadlock: every thread waits" + warpsText(cluster)};
  }
  finishCluster(cluster);
}
