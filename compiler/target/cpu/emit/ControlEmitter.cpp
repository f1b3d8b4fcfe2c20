// Emits scf loops and branches: one phi per carried scalar; carried tiles stay in their buffers.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/ControlEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/LoopHints.h"
#include "compiler/target/cpu/emit/Diagnostics.h"
#include "compiler/target/cpu/emit/HostCallEmitter.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/plan/WaitLoops.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The emitted scalars that a terminator forwards; null for tiles.
SmallVector<llvm::Value *> ControlEmitter::yielded(Operation *terminator) {
  OperandRange operands = terminator->getOperands();
  return scalarsOf(isa<scf::ConditionOp>(terminator) ? operands.drop_front() : operands);
}

namespace {
/// One phi per scalar among `values`, defined in the current basic block.
struct Phis {
  SmallVector<llvm::PHINode *> nodes; ///< null for tiles

  Phis(EmitContext &context, ValueRange values) {
    for (Value value : values) {
      if (isa<RankedTensorType>(value.getType())) {
        nodes.push_back(nullptr);
        context.buffers.setReady(value);
        continue;
      }
      nodes.push_back(context.ir.CreatePHI(context.lanes.typeOf(value.getType(), 1), 2));
      context.scalars.define(value, nodes.back());
    }
  }
  void add(ArrayRef<llvm::Value *> values, llvm::BasicBlock *from) {
    for (auto [node, value] : llvm::zip_equal(nodes, values))
      if (node)
        node->addIncoming(value, from);
  }
};
} // namespace

SmallVector<llvm::Value *> ControlEmitter::scalarsOf(ValueRange values) {
  SmallVector<llvm::Value *> result;
  for (Value value : values)
    result.push_back(isa<RankedTensorType>(value.getType()) ? nullptr : context.scalars.of(value));
  return result;
}

LogicalResult ControlEmitter::emit(const Step &step) {
  context.frame.setLocation(step.op->getLoc());
  if (isa<scf::ForOp>(step.op))
    return emitFor(step);
  if (isa<scf::WhileOp>(step.op))
    return emitWhile(step);
  if (isa<scf::IfOp>(step.op))
    return emitIf(step);
  return emitSwitch(step);
}

LogicalResult ControlEmitter::emitFor(const Step &step) {
  auto loop = cast<scf::ForOp>(step.op);
  llvm::Value *lower = context.scalars.of(loop.getLowerBound()), *upper = context.scalars.of(loop.getUpperBound());
  llvm::Value *stride = context.scalars.of(loop.getStep());
  SmallVector<llvm::Value *> inits = scalarsOf(loop.getInitArgs());
  auto runs = [&](llvm::Value *index) {
    return loop.getUnsignedCmp() ? ir.CreateICmpULT(index, upper) : ir.CreateICmpSLT(index, upper);
  };
  if (step.regions.size() > 1) {
    llvm::BasicBlock *empty = context.frame.newBlock("for.empty"), *start = context.frame.newBlock("for.start");
    ir.CreateCondBr(runs(lower), start, empty);
    ir.SetInsertPoint(empty);
    if (failed(emitSequence(step.regions[1])))
      return failure();
    ir.CreateBr(start);
    ir.SetInsertPoint(start);
  }
  llvm::BasicBlock *before = ir.GetInsertBlock();
  llvm::BasicBlock *header = context.frame.newBlock("for"), *body = context.frame.newBlock("for.body"),
                   *after = context.frame.newBlock("for.end");
  ir.CreateBr(header);

  ir.SetInsertPoint(header);
  llvm::PHINode *index = ir.CreatePHI(lower->getType(), 2);
  index->addIncoming(lower, before);
  context.scalars.define(loop.getInductionVar(), index);
  Phis carried(context, loop.getRegionIterArgs());
  carried.add(inits, before);
  // A tile with two buffers swaps them at each iteration.
  SmallVector<std::pair<BufferId, std::pair<llvm::PHINode *, llvm::PHINode *>>> swaps;
  for (std::optional<BufferId> id : context.plan.carried.lookup(loop)) {
    if (!id || !context.plan.buffers[*id].isDouble)
      continue;
    llvm::PHINode *now = ir.CreatePHI(ir.getPtrTy(), 2), *later = ir.CreatePHI(ir.getPtrTy(), 2);
    now->addIncoming(context.buffers.at(*id), before);
    llvm::IRBuilder<> outside(before->getTerminator());
    later->addIncoming(
        outside.CreateConstGEP1_64(ir.getInt8Ty(), context.buffers.at(*id), context.plan.buffers[*id].bytes), before);
    context.buffers.moveTo(*id, now);
    context.buffers.setNext(*id, later);
    swaps.push_back({*id, {now, later}});
  }
  llvm::PHINode *iteration = nullptr;
  if (llvm::any_of(context.plan.keptOperands, [&](const KeptOperand &operand) { return operand.loop == loop; })) {
    iteration = ir.CreatePHI(ir.getInt64Ty(), 2);
    iteration->addIncoming(ir.getInt64(0), before);
  }
  ir.CreateCondBr(runs(index), body, after);

  ir.SetInsertPoint(body);
  ++context.program.loopDepth;
  context.prefetches.beginIteration(loop);
  if (iteration)
    context.keptOperands.beginIteration(loop, iteration);
  if (failed(emitSequence(step.regions.front())))
    return failure();
  --context.program.loopDepth;
  if (iteration) {
    iteration->addIncoming(ir.CreateAdd(iteration, ir.getInt64(1)), ir.GetInsertBlock());
    context.keptOperands.endIteration(loop);
  }
  context.frame.setLocation(loop.getLoc());
  SmallVector<llvm::Value *> yields = yielded(loop.getBody()->getTerminator());
  // The iteration after the last one has the bound itself: a step may overflow the type.
  index->addIncoming(ir.CreateSelect(context.scalars.isLastIteration(loop), upper, ir.CreateAdd(index, stride)),
                     ir.GetInsertBlock());
  carried.add(yields, ir.GetInsertBlock());
  for (auto &[id, phis] : swaps) {
    phis.first->addIncoming(phis.second, ir.GetInsertBlock());
    phis.second->addIncoming(phis.first, ir.GetInsertBlock());
    context.buffers.setNext(id, nullptr);
  }
  lowering::attachLoopHints(loop, ir.CreateBr(header));

  ir.SetInsertPoint(after);
  for (auto [value, node] : llvm::zip_equal(loop.getResults(), carried.nodes))
    node ? context.scalars.define(value, node) : context.buffers.setReady(value);
  return success();
}

LogicalResult ControlEmitter::emitWhile(const Step &step) {
  auto loop = cast<scf::WhileOp>(step.op);
  SmallVector<llvm::Value *> inits = scalarsOf(loop.getInits());
  llvm::BasicBlock *entry = ir.GetInsertBlock();
  llvm::BasicBlock *before = context.frame.newBlock("while"), *body = context.frame.newBlock("while.body"),
                   *after = context.frame.newBlock("while.end");
  ir.CreateBr(before);

  ir.SetInsertPoint(before);
  Phis carried(context, loop.getBeforeArguments());
  carried.add(inits, entry);
  llvm::PHINode *isFirst = nullptr;
  if (cpu::waitKind(loop)) {
    isFirst = ir.CreatePHI(ir.getInt32Ty(), 2);
    isFirst->addIncoming(ir.getInt32(1), entry);
  }
  ++context.program.loopDepth;
  if (failed(emitSequence(step.regions[0])))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<llvm::Value *> forwarded = yielded(condition);
  for (auto [inside, outside, value] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults(), forwarded)) {
    if (value) {
      context.scalars.define(inside, value);
      context.scalars.define(outside, value);
    } else {
      context.buffers.setReady(inside);
      context.buffers.setReady(outside);
    }
  }
  ir.CreateCondBr(context.scalars.of(condition.getCondition()), body, after);

  ir.SetInsertPoint(body);
  if (failed(emitSequence(step.regions[1])))
    return failure();
  --context.program.loopDepth;
  if (isFirst) {
    context.host.emitWait(loop, isFirst);
    isFirst->addIncoming(ir.getInt32(0), ir.GetInsertBlock());
  }
  carried.add(yielded(loop.getYieldOp()), ir.GetInsertBlock());
  lowering::attachLoopHints(loop, ir.CreateBr(before));
  ir.SetInsertPoint(after);
  return success();
}

LogicalResult ControlEmitter::emitIf(const Step &step) {
  auto branch = cast<scf::IfOp>(step.op);
  llvm::BasicBlock *sides[] = {context.frame.newBlock("then"), context.frame.newBlock("else")};
  llvm::BasicBlock *after = context.frame.newBlock("endif");
  ir.CreateCondBr(context.scalars.of(branch.getCondition()), sides[0], sides[1]);
  SmallVector<std::pair<SmallVector<llvm::Value *>, llvm::BasicBlock *>> ends;
  for (unsigned side = 0; side < 2; ++side) {
    ir.SetInsertPoint(sides[side]);
    SmallVector<llvm::Value *> values;
    if (Block *block = step.regions[side].block) {
      if (failed(emitSequence(step.regions[side])))
        return failure();
      values = yielded(block->getTerminator());
    }
    ends.push_back({values, ir.GetInsertBlock()});
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
  Phis merged(context, branch.getResults());
  for (auto &[values, block] : ends)
    merged.add(values, block);
  return success();
}

LogicalResult ControlEmitter::emitSwitch(const Step &step) {
  auto choice = cast<scf::IndexSwitchOp>(step.op);
  llvm::BasicBlock *after = context.frame.newBlock("endswitch"), *otherwise = context.frame.newBlock("default");
  llvm::SwitchInst *branch = ir.CreateSwitch(context.scalars.of(choice.getArg()), otherwise, choice.getNumCases());
  SmallVector<std::pair<SmallVector<llvm::Value *>, llvm::BasicBlock *>> ends;
  for (auto [index, region] : llvm::enumerate(step.regions)) { // the default region comes first
    llvm::BasicBlock *block = index == 0 ? otherwise : context.frame.newBlock("case");
    if (index > 0)
      branch->addCase(ir.getInt64(choice.getCases()[index - 1]), block);
    ir.SetInsertPoint(block);
    if (failed(emitSequence(region)))
      return failure();
    ends.push_back({yielded(region.block->getTerminator()), ir.GetInsertBlock()});
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
  Phis merged(context, choice.getResults());
  for (auto &[values, block] : ends)
    merged.add(values, block);
  return success();
}

/// The ops of a function of scalars as plan steps; its loops and branches carry nothing in buffers.
static FailureOr<Sequence> scalarSteps(Block &block) {
  Sequence sequence;
  sequence.block = &block;
  for (Operation &op : block.without_terminator()) {
    const bool hasTile = llvm::any_of(op.getOperandTypes(), llvm::IsaPred<RankedTensorType>) ||
                         llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>);
    if (hasTile || (op.getNumRegions() && !isa<scf::ForOp, scf::WhileOp, scf::IfOp, scf::IndexSwitchOp>(op)))
      return tt::report(op.getLoc(), diag::OpUnsupportedInScalars, op.getName().stripDialect());
    Step step;
    step.kind = op.getNumRegions() ? StepKind::Control : StepKind::Scalar;
    step.op = &op;
    for (Region &region : op.getRegions()) {
      FailureOr<Sequence> inner = region.empty() ? FailureOr<Sequence>(Sequence()) : scalarSteps(region.front());
      if (failed(inner))
        return failure();
      step.regions.push_back(std::move(*inner));
    }
    sequence.steps.push_back(std::move(step));
  }
  return sequence;
}

FailureOr<SmallVector<llvm::Value *>> ControlEmitter::emitScalarBlock(Block &block) {
  FailureOr<Sequence> steps = scalarSteps(block);
  if (failed(steps) || failed(emitSequence(*steps)))
    return failure();
  SmallVector<llvm::Value *> results;
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(context.scalars.of(operand));
  return results;
}
