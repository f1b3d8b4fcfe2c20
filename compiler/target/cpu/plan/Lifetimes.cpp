// Computes when each buffer of a plan holds elements that are read later.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Lifetimes.h"

#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

class Lifetimes {
public:
  Lifetimes(const LoopPlan &plan, AffineInfo &affineInfo)
      : plan(plan), affineInfo(affineInfo), liveRanges(plan.buffers.size()) {}

  std::vector<LiveRange> run();

private:
  void visit(const Sequence &sequence);
  void visit(const Step &step);
  void visit(const Nest &nest);
  void access(BufferId buffer) { accesses.emplace_back(buffer, next); }
  void keepAliveThroughout(ArrayRef<std::optional<BufferId>> buffers);

  const LoopPlan &plan;
  AffineInfo &affineInfo;
  std::vector<LiveRange> liveRanges;
  std::vector<std::pair<BufferId, unsigned>> accesses;
  std::vector<LiveRange> loops; ///< inner ones first
  SmallVector<BufferId> alwaysLive;
  unsigned next = 0;
};

} // namespace

void Lifetimes::keepAliveThroughout(ArrayRef<std::optional<BufferId>> buffers) {
  for (std::optional<BufferId> buffer : buffers)
    if (buffer)
      alwaysLive.push_back(*buffer);
}

void Lifetimes::visit(const Nest &nest) {
  ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
    if (auto source = plan.wholeOperands.find(value.getDefiningOp()); source != plan.wholeOperands.end())
      access(source->second);
    auto found = plan.bufferOf.find(value);
    if (found == plan.bufferOf.end() || !isRead(plan, nest, value))
      return true;
    access(found->second);
    return false;
  });
  for (const Root &root : nest.roots) {
    walk.root(root);
    for (BufferId buffer : root.buffers)
      access(buffer);
    if (root.staging)
      access(*root.staging);
  }
}

void Lifetimes::visit(const Step &step) {
  const unsigned first = next;
  if (step.nest)
    visit(*step.nest);
  if (step.guard)
    alwaysLive.push_back(step.guard->copy);
  for (std::optional<BufferId> buffer : plan.operandsOf.lookup(step.op))
    if (buffer)
      access(*buffer);
  if (step.dot) {
    for (BufferId buffer : {step.dot->a.buffer, step.dot->b.buffer, step.dot->d})
      access(buffer);
    for (std::optional<BufferId> buffer : {step.dot->packed, step.dot->unsignedA, step.dot->columnSums})
      if (buffer)
        access(*buffer);
  }
  if (step.kind == StepKind::Control) {
    keepAliveThroughout(plan.carried.lookup(step.op));
    keepAliveThroughout(plan.forwarded.lookup(step.op));
  }
  ++next;
  for (const Sequence &region : step.regions)
    visit(region);
  if (isa_and_nonnull<LoopLikeOpInterface>(step.op) && step.kind == StepKind::Control)
    loops.push_back({first, next - 1});
}

void Lifetimes::visit(const Sequence &sequence) {
  for (const Step &step : sequence.steps)
    visit(step);
}

std::vector<LiveRange> Lifetimes::run() {
  visit(plan.body);
  for (const KeptOperand &operand : plan.keptOperands)
    alwaysLive.append({operand.tiles, operand.keys});
  for (auto [buffer, step] : accesses)
    liveRanges[buffer].add({step, step});
  for (LiveRange loop : loops) // values from outside are read in every iteration, reads outside may be of any iteration
    for (LiveRange &liveRange : liveRanges)
      if (liveRange.overlaps(loop) && !loop.contains(liveRange))
        liveRange.add(loop);
  for (BufferId buffer : alwaysLive)
    liveRanges[buffer].add({0, next});
  return std::move(liveRanges);
}

std::vector<LiveRange> cpu::liveRangesOf(const LoopPlan &plan, AffineInfo &affineInfo) {
  return Lifetimes(plan, affineInfo).run();
}
