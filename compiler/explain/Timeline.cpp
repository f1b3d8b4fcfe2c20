// Simulates some iterations of a loop, until one repeats the one before.
// SPDX-License-Identifier: MIT
#include "compiler/explain/Timeline.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <deque>
#include <numeric>

using namespace nereid;
using namespace nereid::explain;

/// Iterations before those that are shown, in which buffers fill.
static constexpr unsigned kWarmUp = 6;
/// Iterations after them, which parts that run ahead reach.
static constexpr unsigned kTail = 8;

namespace {
/// The progress of one part.
struct PartState {
  size_t next = 0; ///< op
  unsigned iteration = 0;
  uint64_t now = 0;
  uint64_t lastCopyDone = 0, groupDone = 0; ///< of all copies so far; of those since the last commit
  uint64_t loadDone = 0, prefetchDone = 0;
  std::deque<uint64_t> groups, dots; ///< when those in flight are done
  std::vector<size_t> waits;         ///< by barrier, how many waits have passed
  std::vector<uint64_t> begins;      ///< by iteration
};

class Simulation {
public:
  explicit Simulation(const Loop &loop) : loop(loop), unitFree(std::size(kUnits)), phases(loop.barriers.size()) {
    for (auto [index, barrier] : llvm::enumerate(loop.barriers))
      phases[index].assign(barrier.initialPhases, 0);
    for (size_t part = 0; part < loop.parts.size(); ++part) {
      parts.emplace_back();
      parts.back().waits.resize(loop.barriers.size());
      parts.back().groups.assign(loop.groupsAhead, 0);
    }
  }

  Timeline run();

private:
  bool advance(unsigned part);
  bool execute(unsigned part, const LoopOp &op);
  uint64_t occupy(unsigned part, const LoopOp &op);
  Timeline window() const;

  const Loop &loop;
  std::vector<PartState> parts;
  std::vector<uint64_t> unitFree;
  std::vector<std::vector<uint64_t>> phases; ///< by barrier, when each phase was complete
  std::vector<Bar> bars;
};
} // namespace

static size_t indexOf(Unit unit) { return llvm::find(kUnits, unit) - std::begin(kUnits); }

/// Waits until at most `number` of the work in flight remains.
static void drain(std::deque<uint64_t> &inFlight, unsigned number, uint64_t &now) {
  while (inFlight.size() > number) {
    now = std::max(now, inFlight.front());
    inFlight.pop_front();
  }
}

/// Uses the op's unit as soon as it is free; returns when it is free again.
uint64_t Simulation::occupy(unsigned part, const LoopOp &op) {
  PartState &state = parts[part];
  if (op.unit == Unit::None || op.cycles == 0)
    return state.now;
  if (op.unit != Unit::MemoryCopies)
    state.now = std::max(state.now, state.loadDone);
  uint64_t &free = unitFree[indexOf(op.unit)];
  const uint64_t begin = std::max(state.now, free);
  free = begin + op.cycles;
  bars.push_back({part, unsigned(state.next), state.iteration, begin, free});
  return free;
}

/// False where the op has to wait for what no part has done yet.
bool Simulation::execute(unsigned part, const LoopOp &op) {
  PartState &state = parts[part];
  switch (op.action) {
  case Action::None:
    state.now = occupy(part, op);
    return true;
  case Action::Start: {
    const uint64_t done = occupy(part, op);
    if (op.unit == Unit::TensorCores) {
      state.dots.push_back(done);
    } else {
      state.lastCopyDone = state.groupDone = std::max(state.groupDone, done + kCopyLatency);
    }
    return true;
  }
  case Action::Load:
    state.loadDone = occupy(part, op) + kCopyLatency;
    return true;
  case Action::Prefetch:
    state.prefetchDone = occupy(part, op) + kCopyLatency;
    return true;
  case Action::Commit:
    state.groups.push_back(state.groupDone);
    return true;
  case Action::WaitGroups:
    drain(state.groups, op.number, state.now);
    return true;
  case Action::WaitDots:
    drain(state.dots, op.number, state.now);
    return true;
  case Action::Signal:
    phases[op.barrier].push_back(state.now);
    return true;
  case Action::SignalCopy:
    phases[op.barrier].push_back(state.lastCopyDone);
    return true;
  case Action::Wait: {
    const size_t phase = state.waits[op.barrier];
    if (phase >= phases[op.barrier].size())
      return false;
    state.now = std::max(state.now, phases[op.barrier][phase]);
    ++state.waits[op.barrier];
    return true;
  }
  }
  return true;
}

/// Runs the next op of a part; false where it has to wait for another part, or all its iterations are done.
bool Simulation::advance(unsigned part) {
  PartState &state = parts[part];
  const std::vector<LoopOp> &ops = loop.parts[part].ops;
  if (ops.empty() || state.iteration == kWarmUp + kShownIterations + kTail)
    return false;
  if (state.next == 0 && state.begins.size() == state.iteration)
    state.begins.push_back(state.now);
  if (!execute(part, ops[state.next]))
    return false;
  if (++state.next == ops.size()) {
    state.next = 0;
    state.loadDone = state.prefetchDone;
    ++state.iteration;
  }
  return true;
}

/// The time of the shown iterations of the part that computes, which is the first.
Timeline Simulation::window() const {
  Timeline timeline;
  timeline.busy.assign(std::size(kUnits), 0);
  for (const Loop::Part &part : loop.parts)
    for (const LoopOp &op : part.ops)
      if (op.unit != Unit::None)
        timeline.busy[indexOf(op.unit)] += op.cycles;
  if (parts.empty() || parts.front().begins.size() <= kWarmUp + kShownIterations)
    return timeline;
  const uint64_t begin = parts.front().begins[kWarmUp], end = parts.front().begins[kWarmUp + kShownIterations];
  timeline.cycles = end - begin;
  timeline.cyclesPerIteration = timeline.cycles / kShownIterations;
  for (Bar bar : bars) {
    if (bar.end <= begin || bar.begin >= end)
      continue;
    bar.begin = std::max(bar.begin, begin) - begin;
    bar.end = std::min(bar.end, end) - begin;
    bar.iteration = bar.iteration < kWarmUp ? 0 : bar.iteration - kWarmUp;
    timeline.bars.push_back(bar);
  }
  return timeline;
}

/// The part that is earliest goes first, since parts share units.
Timeline Simulation::run() {
  std::vector<unsigned> order(parts.size());
  std::iota(order.begin(), order.end(), 0);
  do
    llvm::stable_sort(order, [&](unsigned a, unsigned b) { return parts[a].now < parts[b].now; });
  while (llvm::any_of(order, [&](unsigned part) { return advance(part); }));
  return window();
}

Timeline explain::timelineOf(const Loop &loop) { return Simulation(loop).run(); }
