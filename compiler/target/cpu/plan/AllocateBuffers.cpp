// Assigns each buffer an offset in the arena; buffers that are never live at one time may share one.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// Step numbers in program order, both ends included.
struct LiveRange {
  unsigned first = ~0u;
  unsigned last = 0;

  void add(LiveRange other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool contains(LiveRange other) const { return first <= other.first && other.last <= last; }
  bool overlaps(LiveRange other) const { return first <= other.last && other.first <= last; }
};

class Lifetimes {
public:
  explicit Lifetimes(PlanContext &context) : context(context), liveRanges(context.plan.buffers.size()) {}

  /// The live range of each buffer.
  std::vector<LiveRange> run();

private:
  void visit(const Sequence &sequence);
  void visit(const Step &step);
  void visit(const Nest &nest);
  void access(BufferId buffer) { accesses.emplace_back(buffer, next); }
  void keepAliveThroughout(ArrayRef<std::optional<BufferId>> buffers);

  PlanContext &context;
  std::vector<LiveRange> liveRanges;
  std::vector<std::pair<BufferId, unsigned>> accesses;
  std::vector<LiveRange> loops; ///< inner ones first
  std::vector<BufferId> alwaysLive;
  unsigned next = 0;
};

} // namespace

void Lifetimes::keepAliveThroughout(ArrayRef<std::optional<BufferId>> buffers) {
  for (std::optional<BufferId> buffer : buffers)
    if (buffer)
      alwaysLive.push_back(*buffer);
}

void Lifetimes::visit(const Nest &nest) {
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    if (auto gather = value.getDefiningOp<tt::GatherOp>())
      access(context.plan.gatherSources.lookup(gather));
    auto found = context.plan.bufferOf.find(value);
    if (found == context.plan.bufferOf.end() || !isRead(context.plan, nest, value))
      return true;
    access(found->second);
    return false;
  });
  for (const Root &root : nest.roots) {
    walk.root(root);
    for (BufferId buffer : root.buffers)
      access(buffer);
  }
}

void Lifetimes::visit(const Step &step) {
  const unsigned first = next;
  if (step.nest)
    visit(*step.nest);
  if (step.guard)
    alwaysLive.push_back(step.guard->copy);
  for (std::optional<BufferId> buffer : context.plan.operandsOf.lookup(step.op))
    if (buffer)
      access(*buffer);
  if (step.dot) {
    for (BufferId buffer : {step.dot->a.buffer, step.dot->b.buffer, step.dot->d})
      access(buffer);
    if (step.dot->packed)
      access(*step.dot->packed);
  }
  if (step.kind == StepKind::Control) {
    keepAliveThroughout(context.plan.carried.lookup(step.op));
    keepAliveThroughout(context.plan.forwarded.lookup(step.op));
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
  visit(context.plan.body);
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

void cpu::allocateBuffers(PlanContext &context) {
  // Buffers whose starts agree modulo 4096 would compete for the same cache sets.
  constexpr uint64_t align = 64, skew = 192;
  LoopPlan &plan = context.plan;
  const std::vector<LiveRange> liveRanges = Lifetimes(context).run();
  struct Allocation {
    uint64_t begin, end;
    LiveRange liveRange;
  };
  std::vector<Allocation> allocations; // sorted by offset
  for (auto [buffer, liveRange] : llvm::zip_equal(plan.buffers, liveRanges)) {
    uint64_t elements = 1;
    for (int64_t extent : buffer.shape)
      elements *= extent;
    // A kernel's vectors may extend past the end by less than one vector.
    buffer.bytes = llvm::alignTo(elements * storageBytes(buffer.element), align);
    const uint64_t size = buffer.bytes * (buffer.isDouble ? 2 : 1) + (buffer.bytes >= 4096 ? skew : 0);
    uint64_t offset = 0;
    for (const Allocation &other : allocations)
      if (other.liveRange.overlaps(liveRange) && offset + size > other.begin)
        offset = std::max(offset, other.end);
    buffer.offset = offset;
    const Allocation allocation{offset, offset + size, liveRange};
    allocations.insert(llvm::upper_bound(allocations, allocation,
                                         [](const Allocation &a, const Allocation &b) { return a.begin < b.begin; }),
                       allocation);
    plan.arenaBytes = std::max(plan.arenaBytes, offset + size);
  }
}
