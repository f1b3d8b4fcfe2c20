// Lists the edges along which loops and branches forward values.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/ValueFlow.h"

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace nereid;

static SmallVector<RegionSuccessor, 2> successorsOf(RegionBranchOpInterface op, RegionBranchPoint point) {
  // The interface leaves out edges that a known trip count excludes, but the values at their ends have one type.
  if (auto loop = dyn_cast<scf::ForOp>(*op))
    return {RegionSuccessor(&loop.getRegion(), loop.getRegionIterArgs()), RegionSuccessor(op, op->getResults())};
  SmallVector<RegionSuccessor, 2> successors;
  op.getSuccessorRegions(point, successors);
  return successors;
}

/// The edges from one point: `op` itself or a terminator in its regions.
static void visitPoint(RegionBranchOpInterface op, RegionBranchPoint point,
                       llvm::function_ref<void(OpOperand &, Value)> visit) {
  Operation *owner = point.isParent() ? op.getOperation() : point.getTerminatorPredecessorOrNull();
  for (const RegionSuccessor &successor : successorsOf(op, point)) {
    const OperandRange operands = op.getSuccessorOperands(point, successor);
    if (operands.empty())
      continue;
    const unsigned first = operands.getBeginOperandIndex();
    for (auto [index, input] : llvm::enumerate(successor.getSuccessorInputs()))
      visit(owner->getOpOperand(first + index), input);
  }
}

void analysis::forEachForwarded(RegionBranchOpInterface op, llvm::function_ref<void(OpOperand &, Value)> visit) {
  for (RegionBranchPoint point : op.getAllRegionBranchPoints())
    visitPoint(op, point, visit);
}

/// The captures of a partition's arguments, and what the default region yields as results.
static SmallVector<Value, 2> forwardedByWarps(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto op = dyn_cast_or_null<ttg::WarpSpecializeOp>(argument.getOwner()->getParentOp());
    return op ? SmallVector<Value, 2>{op.getCaptures()[argument.getArgNumber()]} : SmallVector<Value, 2>();
  }
  auto op = value.getDefiningOp<ttg::WarpSpecializeOp>();
  if (!op)
    return {};
  return {op.getDefaultRegion().front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber())};
}

SmallVector<Value, 2> analysis::forwardedTo(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto op =
      dyn_cast_or_null<RegionBranchOpInterface>(argument ? argument.getOwner()->getParentOp() : value.getDefiningOp());
  SmallVector<Value, 2> sources = forwardedByWarps(value);
  if (op)
    forEachForwarded(op, [&](OpOperand &from, Value to) {
      if (to == value)
        sources.push_back(from.get());
    });
  return sources;
}

SmallVector<Value, 2> analysis::forwardedFrom(OpOperand &operand) {
  Operation *owner = operand.getOwner();
  SmallVector<Value, 2> targets;
  auto visit = [&](OpOperand &from, Value to) {
    if (&from == &operand)
      targets.push_back(to);
  };
  if (auto op = dyn_cast<RegionBranchOpInterface>(owner))
    visitPoint(op, RegionBranchPoint::parent(), visit);
  else if (auto roles = dyn_cast<ttg::WarpSpecializeOp>(owner))
    for (Region &region : roles.getPartitionRegions())
      targets.push_back(region.getArgument(operand.getOperandNumber()));
  else if (isa<ttg::WarpYieldOp>(owner))
    targets.push_back(owner->getParentOp()->getResult(operand.getOperandNumber()));
  else if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(owner))
    if (auto parent = dyn_cast<RegionBranchOpInterface>(owner->getParentOp()))
      visitPoint(parent, RegionBranchPoint(end), visit);
  return targets;
}
