// Decides where dots accumulate and in which order their operands are stored.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

std::optional<BufferId> cpu::carriedAccumulator(const LoopPlan &plan, tt::DotOp dot) {
  Value accumulator = dot.getD();
  // Limit on the length of a chain of dots, which all accumulate in the buffer of the last.
  constexpr unsigned maxLength = 1000;
  for (unsigned length = 0; length < maxLength; ++length) {
    auto next = accumulator.hasOneUse() ? dyn_cast<tt::DotOp>(*accumulator.user_begin()) : tt::DotOp();
    if (!next || next.getC() != accumulator || next->getBlock() != dot->getBlock())
      break;
    accumulator = next.getD();
  }
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  if (!loop)
    return std::nullopt;
  auto carried = plan.carried.find(loop);
  for (auto [index, value] : llvm::enumerate(loop.getBody()->getTerminator()->getOperands()))
    if (value == accumulator && carried != plan.carried.end())
      return carried->second[index];
  return std::nullopt;
}

bool cpu::isOnlyCarried(tt::DotOp dot) {
  return dot.getD().hasOneUse() && isa<scf::YieldOp>(*dot.getD().user_begin()) && isa<scf::ForOp>(dot->getParentOp()) &&
         dot.getD().user_begin()->getParentOp() == dot->getParentOp();
}

bool cpu::isReadByColumns(PlanContext &context, Value tile) {
  const int8_t rank = tt::shapeOf(tile.getType()).size();
  int votes = 0;
  auto vote = [&](const IndexMap &map, int8_t loop) { // broadcast rows do not count
    if (llvm::is_contained(map, rank - 1) && llvm::is_contained(map, rank - 2))
      votes += loop == rank - 2 ? 1 : loop == rank - 1 ? -1 : 0;
  };
  auto visit = [&](Value value, const IndexMap &map) {
    if (map.empty())
      return false;
    if (context.plan.bufferOf.contains(value)) {
      vote(map, map.back());
      return false;
    }
    auto load = value.getDefiningOp<tt::LoadOp>();
    const AffineForm *form = load ? context.affineInfo.assumed(load.getPtr()) : nullptr;
    if (!form)
      return true;
    const int64_t size = storageBytes(tt::elementOf(value.getType()));
    for (auto [dim, stride] : llvm::enumerate(form->steps))
      if (stride.constant() == size)
        vote(map, map[dim]);
    return true;
  };
  ExpressionWalk walk(context.affineInfo, visit);
  walk.root({RootKind::Assign, tile.getDefiningOp(), tile, {}});
  return votes > 0;
}

Value cpu::transposed(Value tile) {
  auto order = llvm::to_vector_of<int32_t>(llvm::seq<size_t>(0, tt::shapeOf(tile.getType()).size()));
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  if (auto trans = tile.getDefiningOp<tt::TransOp>(); trans && trans.getOrder() == ArrayRef<int32_t>(order))
    return trans.getSrc();
  for (Operation *user : tile.getUsers())
    if (auto trans = dyn_cast<tt::TransOp>(user); trans && trans.getOrder() == ArrayRef<int32_t>(order))
      return trans.getResult();
  SmallVector<int64_t> shape(tt::shapeOf(tile.getType()));
  std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
  OpBuilder builder(tile.getContext());
  builder.setInsertionPointAfterValue(tile);
  return tt::TransOp::create(builder, tile.getLoc(), RankedTensorType::get(shape, tt::elementOf(tile.getType())), tile,
                             order);
}
