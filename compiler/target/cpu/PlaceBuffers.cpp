// Gives each buffer its place in the arena; those that are never needed at one time may share one.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Expressions.h"
#include "compiler/target/cpu/PlanBuilder.h"

#include "mlir/Interfaces/LoopLikeInterface.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// Steps in the order in which they stand, both ends included.
struct Span {
  unsigned first = ~0u;
  unsigned last = 0;

  void add(Span other) {
    first = std::min(first, other.first);
    last = std::max(last, other.last);
  }
  bool contains(Span other) const { return first <= other.first && other.last <= last; }
  bool meets(Span other) const { return first <= other.last && other.first <= last; }
};

class Lifetimes {
public:
  explicit Lifetimes(PlanContext &context) : context(context), spans(context.plan.buffers.size()) {}

  /// When each buffer holds what is still read.
  std::vector<Span> run();

private:
  void visit(const Sequence &sequence);
  void visit(const Step &step);
  void visit(const Nest &nest);
  void touch(BufferId buffer) { touches.emplace_back(buffer, next); }
  void keepAlways(ArrayRef<std::optional<BufferId>> buffers);

  PlanContext &context;
  std::vector<Span> spans;
  std::vector<std::pair<BufferId, unsigned>> touches;
  std::vector<Span> loops; ///< inner ones first
  std::vector<BufferId> always;
  unsigned next = 0;
};

} // namespace

void Lifetimes::keepAlways(ArrayRef<std::optional<BufferId>> buffers) {
  for (std::optional<BufferId> buffer : buffers)
    if (buffer)
      always.push_back(*buffer);
}

void Lifetimes::visit(const Nest &nest) {
  ExpressionWalk walk(context.facts, [&](Value value, const IndexMap &) {
    if (auto gather = value.getDefiningOp<tt::GatherOp>())
      touch(context.plan.gatherSources.lookup(gather));
    auto found = context.plan.bufferOf.find(value);
    if (found == context.plan.bufferOf.end() || !isRead(context.plan, nest, value))
      return true;
    touch(found->second);
    return false;
  });
  for (const Root &root : nest.roots) {
    walk.root(root);
    for (BufferId buffer : root.buffers)
      touch(buffer);
  }
}

void Lifetimes::visit(const Step &step) {
  const unsigned first = next;
  if (step.nest)
    visit(*step.nest);
  if (step.guard)
    always.push_back(step.guard->copy);
  for (std::optional<BufferId> buffer : context.plan.operandsOf.lookup(step.op))
    if (buffer)
      touch(*buffer);
  if (step.product) {
    for (BufferId buffer : {step.product->a.buffer, step.product->b.buffer, step.product->d})
      touch(buffer);
    if (step.product->turned)
      touch(*step.product->turned);
  }
  if (step.kind == StepKind::Control) {
    keepAlways(context.plan.carried.lookup(step.op));
    keepAlways(context.plan.forwarded.lookup(step.op));
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

std::vector<Span> Lifetimes::run() {
  visit(context.plan.body);
  for (auto [buffer, step] : touches)
    spans[buffer].add({step, step});
  for (Span loop : loops) // what comes from outside is read in every turn, what is read outside may be from any
    for (Span &span : spans)
      if (span.meets(loop) && !loop.contains(span))
        span.add(loop);
  for (BufferId buffer : always)
    spans[buffer].add({0, next});
  return std::move(spans);
}

void cpu::placeBuffers(PlanContext &context) {
  // Buffers whose starts agree modulo 4096 would compete for the same cache sets.
  constexpr uint64_t align = 64, skew = 192;
  LoopPlan &plan = context.plan;
  const std::vector<Span> spans = Lifetimes(context).run();
  struct Taken {
    uint64_t begin, end;
    Span span;
  };
  std::vector<Taken> taken; // by where they begin
  for (auto [buffer, span] : llvm::zip_equal(plan.buffers, spans)) {
    uint64_t elements = 1;
    for (int64_t extent : buffer.shape)
      elements *= extent;
    // A kernel's vectors may reach past the end by less than one of them.
    buffer.bytes = llvm::alignTo(elements * storageBytes(buffer.element), align);
    const uint64_t size = buffer.bytes * (buffer.isDouble ? 2 : 1) + (buffer.bytes >= 4096 ? skew : 0);
    uint64_t offset = 0;
    for (const Taken &other : taken)
      if (other.span.meets(span) && offset + size > other.begin)
        offset = std::max(offset, other.end);
    buffer.offset = offset;
    const Taken place{offset, offset + size, span};
    taken.insert(llvm::upper_bound(taken, place, [](const Taken &a, const Taken &b) { return a.begin < b.begin; }),
                 place);
    plan.arenaBytes = std::max(plan.arenaBytes, offset + size);
  }
}
