// Chooses the innermost dimension of each buffer: the one along which its nests access memory contiguously.
// SPDX-License-Identifier: MIT
//
// A tile of columns, such as `acc += load(x + i[:, None] + n * j[None, :])` with i contiguous, is otherwise kept
// row-major, and either its buffer or the memory is accessed with a stride. Each nest votes for the dimension that its
// accesses to memory favour; nests in loops have more votes. Buffers that are read as whole tiles stay row-major.
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class OrderVotes {
public:
  explicit OrderVotes(PlanContext &context) : context(context), rowMajor(context.plan.buffers.size()) {
    for (const Buffer &buffer : context.plan.buffers)
      votes.emplace_back(buffer.shape.size(), 0);
  }
  void visit(const Sequence &sequence, int64_t weight);
  void decide();

private:
  void visit(const Nest &nest, int64_t weight);
  void visitWholeTiles(const Step &step);
  int contiguousDim(const Nest &nest);
  bool isWrittenByElement(const Root &root, const Nest &nest) const;
  void vote(BufferId buffer, const IndexMap &map, int dim, int64_t weight);
  void keepRowMajor(std::optional<BufferId> buffer) {
    if (buffer)
      rowMajor.set(*buffer);
  }

  PlanContext &context;
  std::vector<SmallVector<int64_t, 4>> votes; ///< by buffer and its dimension
  llvm::BitVector rowMajor;                   ///< buffers that something reads or writes in this order
};
} // namespace

/// The dimension of the nest along which most of its accesses to memory have unit stride; -1: none of them has it.
int OrderVotes::contiguousDim(const Nest &nest) {
  SmallVector<int, 4> units(nest.shape.size(), 0);
  auto count = [&](Value pointer, const IndexMap &map) {
    const AffineForm *form = context.affineInfo.assumed(pointer);
    if (!form)
      return;
    auto moves = [&](size_t dim) { return map[dim] >= 0 && nest.shape[map[dim]] != 1 && !form->steps[dim].isZero(); };
    // An access that moves along no other loop is made once for all iterations of that loop.
    const auto loops = llvm::count_if(llvm::seq<size_t>(0, map.size()), moves);
    for (auto [dim, loop] : llvm::enumerate(map))
      if (moves(dim) && isContiguous(*form, dim, pointer))
        units[loop] += loops > 1 ? 2 : 1;
  };
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (isRead(context.plan, nest, value))
      return false;
    if (auto load = value.getDefiningOp<tt::LoadOp>(); load && !map.empty())
      count(load.getPtr(), map);
    return true;
  });
  const IndexMap identity = identityMap(nest.shape.size());
  for (const Root &root : nest.roots) {
    walk.root(root);
    if (root.isWrite())
      count(root.access().getAccessedPointer(), identity);
    if (auto load = dyn_cast_or_null<tt::LoadOp>(root.op); load && root.kind == RootKind::Materialise)
      count(load.getPtr(), identity);
  }
  int best = -1;
  for (auto [dim, accesses] : llvm::enumerate(units))
    if (accesses > 0 && (best < 0 || accesses >= units[best]))
      best = dim;
  return best;
}

void OrderVotes::vote(BufferId buffer, const IndexMap &map, int dim, int64_t weight) {
  if (map.size() != votes[buffer].size())
    return keepRowMajor(buffer);
  for (auto [index, loop] : llvm::enumerate(map))
    if (loop == dim)
      votes[buffer][index] += weight;
}

/// Whether the root's tiles have the nest's shape, and each element is written at its index.
bool OrderVotes::isWrittenByElement(const Root &root, const Nest &nest) const {
  switch (root.kind) {
  case RootKind::Materialise:
    return true;
  case RootKind::Assign:
    return !isa<tt::ReshapeOp, tt::CatOp>(root.op) && root.offset == 0;
  case RootKind::Op:
    return llvm::all_of(root.buffers, [&](BufferId buffer) {
      return ArrayRef<int64_t>(context.plan.buffers[buffer].shape) == ArrayRef<int64_t>(nest.shape);
    });
  }
  llvm_unreachable("all kinds are listed");
}

void OrderVotes::visit(const Nest &nest, int64_t weight) {
  const IndexMap identity = identityMap(nest.shape.size());
  for (const Root &root : nest.roots)
    if (!isWrittenByElement(root, nest))
      llvm::for_each(root.buffers, [&](BufferId buffer) { keepRowMajor(buffer); });
  const int dim = contiguousDim(nest);
  if (dim < 0)
    return;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (!isRead(context.plan, nest, value))
      return true;
    vote(context.plan.bufferOf.lookup(value), map, dim, weight);
    return false;
  });
  for (const Root &root : nest.roots) {
    walk.root(root);
    if (isWrittenByElement(root, nest))
      llvm::for_each(root.buffers, [&](BufferId buffer) { vote(buffer, identity, dim, weight); });
  }
}

/// Marks the buffers that are read or written as whole tiles.
void OrderVotes::visitWholeTiles(const Step &step) {
  if (step.dot)
    for (BufferId buffer : {step.dot->a.buffer, step.dot->b.buffer, step.dot->d})
      keepRowMajor(buffer);
}

void OrderVotes::visit(const Sequence &sequence, int64_t weight) {
  constexpr int64_t iterations = 8, most = int64_t(1) << 32; // a loop's assumed iterations; no overflow
  for (const Step &step : sequence.steps) {
    if (step.nest)
      visit(*step.nest, weight);
    visitWholeTiles(step);
    const bool isLoop = step.op && isa<LoopLikeOpInterface>(step.op);
    for (const Sequence &region : step.regions)
      visit(region, isLoop ? std::min(weight * iterations, most) : weight);
  }
}

void OrderVotes::decide() {
  for (const auto &[op, buffers] : context.plan.operandsOf)
    for (std::optional<BufferId> buffer : buffers)
      keepRowMajor(buffer);
  for (const auto &[op, buffer] : context.plan.wholeOperands)
    keepRowMajor(buffer);
  for (auto [id, buffer] : llvm::enumerate(context.plan.buffers)) {
    if (rowMajor.test(id) || buffer.shape.empty() || buffer.innermost >= 0)
      continue;
    unsigned innermost = buffer.shape.size() - 1;
    for (auto [dim, count] : llvm::enumerate(votes[id]))
      if (count > votes[id][innermost])
        innermost = dim;
    buffer.innermost = innermost;
  }
}

void cpu::chooseOrders(PlanContext &context, Sequence &sequence) {
  OrderVotes votes(context);
  votes.visit(sequence, 1);
  votes.decide();
}
