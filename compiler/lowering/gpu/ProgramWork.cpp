// Follows a program's control flow and adds up what each op keeps busy and waits for.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/ProgramWork.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using explain::Unit;

/// From the first instruction of a reduction or a conversion to its result: shuffles and a barrier, in cycles.
static constexpr double kExchangeLatency = 150;
/// Of a multiprocessor: fewer warps leave some idle.
static constexpr double kSchedulers = 4;
/// Barriers, waits and the counting of an iteration.
static constexpr double kIterationCycles = 40;
/// Of an instruction whose result the next one needs.
static constexpr double kResultLatency = 4;

static size_t indexOf(Unit unit) { return llvm::find(explain::kUnits, unit) - std::begin(explain::kUnits); }

ProgramWork ProgramWork::repeated(double times) const {
  ProgramWork all = *this;
  for (double &cycles : all.busy)
    cycles *= times;
  all.cycles *= times;
  all.bytes *= times;
  return all;
}

void ProgramWork::add(const ProgramWork &other) {
  for (auto [sum, part] : llvm::zip_equal(busy, other.busy))
    sum += part;
  cycles += other.cycles;
  bytes += other.bytes;
}

static bool isStore(Operation *op) {
  auto access = analysis::anyAccessOf(op);
  return access && access->isStore();
}

ProgramWork WorkCounter::ofSimple(Operation *op) {
  ProgramWork work;
  const OpCost cost = costs.of(op);
  work.bytes = double(cost.bytes);
  if (cost.unit == Unit::None)
    return work;
  work.busy[indexOf(cost.unit)] = double(cost.cycles);
  if (costs.isAsync(op) || isStore(op))
    return work;
  work.cycles = double(cost.cycles);
  if (cost.unit == Unit::Alu || cost.unit == Unit::SpecialFunctions)
    work.cycles = std::max(work.cycles * std::max(kSchedulers / ttg::numWarpsOf(op), 1.0), kResultLatency);
  if (isa<tt::ReduceOp, ttg::ConvertLayoutOp>(op))
    work.cycles += kExchangeLatency;
  return work;
}

/// Adds what iterations cost beside their ops, and replaces the sum of their latencies by their schedule.
void WorkCounter::useSchedule(Operation *loop, double trips, ProgramWork &work) const {
  const auto schedule = iterations.find(loop);
  if (schedule == iterations.end())
    return;
  if (schedule->second > 0)
    work.cycles = double(schedule->second) * trips;
  work.cycles += trips * (spillCycles + kIterationCycles);
  work.busy[indexOf(Unit::SharedMemory)] += trips * spillCycles;
}

ProgramWork WorkCounter::ofLoop(scf::ForOp loop) {
  const double trips = values.tripCount(loop);
  ProgramWork work = of(*loop.getBody()).repeated(trips);
  useSchedule(loop, trips, work);
  return work;
}

/// The last time only the condition is computed.
ProgramWork WorkCounter::ofLoop(scf::WhileOp loop) {
  const double conditions = values.tripCount(loop);
  const ProgramWork before = of(*loop.getBeforeBody()), after = of(*loop.getAfterBody());
  ProgramWork work = before.repeated(conditions);
  work.add(after.repeated(conditions - 1));
  useSchedule(loop, before.cycles > after.cycles ? conditions : conditions - 1, work);
  return work;
}

/// Where the condition is not known, the longer side.
ProgramWork WorkCounter::ofBranch(scf::IfOp branch) {
  const std::optional<int64_t> condition = values.of(branch.getCondition());
  const bool hasElse = !branch.getElseRegion().empty();
  if (condition)
    return *condition ? of(*branch.thenBlock()) : hasElse ? of(*branch.elseBlock()) : ProgramWork();
  const ProgramWork first = of(*branch.thenBlock());
  if (!hasElse)
    return first;
  const ProgramWork second = of(*branch.elseBlock());
  return first.cycles >= second.cycles ? first : second;
}

/// Roles run beside each other.
ProgramWork WorkCounter::ofRoles(ttg::WarpSpecializeOp op) {
  ProgramWork all;
  double longest = 0;
  for (Region &region : op->getRegions()) {
    ProgramWork role;
    for (Block &block : region)
      role.add(of(block));
    longest = std::max(longest, role.cycles);
    all.add(role);
  }
  all.cycles = longest;
  return all;
}

ProgramWork WorkCounter::ofOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, ProgramWork>(op)
      .Case<scf::ForOp, scf::WhileOp>([&](auto loop) { return ofLoop(loop); })
      .Case([&](scf::IfOp branch) { return ofBranch(branch); })
      .Case([&](ttg::WarpSpecializeOp roles) { return ofRoles(roles); })
      .Default([&](Operation *simple) { return ofSimple(simple); });
}

/// Loads that do not depend on one another are in flight together, between two ops that contain code.
ProgramWork WorkCounter::of(Block &block) {
  ProgramWork work;
  llvm::DenseMap<Value, unsigned> loadsBefore; // by value: loads that it waits for, one after the other
  unsigned longest = 0;
  const auto flush = [&] {
    work.cycles += longest * latency;
    longest = 0;
    loadsBefore.clear();
  };
  for (Operation &op : block) {
    const bool isNested = op.getNumRegions() > 0 && !isa<tt::ReduceOp>(op);
    if (isNested)
      flush();
    work.add(ofOp(&op));
    if (isNested)
      continue;
    unsigned depth = 0;
    for (Value operand : op.getOperands())
      depth = std::max(depth, loadsBefore.lookup(operand));
    depth += isa<tt::LoadOp, ttg::AsyncWaitOp>(op);
    longest = std::max(longest, depth);
    for (Value result : op.getResults())
      loadsBefore[result] = depth;
  }
  flush();
  return work;
}
