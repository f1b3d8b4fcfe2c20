// Emits scf loops and branches: one phi per carried scalar; carried tiles stay in their buffers.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KernelEmitter.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/LoopHints.h"
#include "compiler/target/cpu/emit/Diagnostics.h"
#include "compiler/target/cpu/plan/WaitLoops.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The emitted scalars that a terminator forwards; null for tiles.
SmallVector<llvm::Value *> KernelEmitter::yielded(Operation *terminator) {
  SmallVector<llvm::Value *> values;
  OperandRange operands = terminator->getOperands();
  for (Value operand : isa<scf::ConditionOp>(terminator) ? operands.drop_front() : operands)
    values.push_back(isa<RankedTensorType>(operand.getType()) ? nullptr : scalar(operand));
  return values;
}

namespace {
/// One phi per scalar among `values`, defined in the current basic block.
struct Phis {
  SmallVector<llvm::PHINode *> nodes; ///< null for tiles

  Phis(KernelEmitter &emitter, ValueRange values) {
    for (Value value : values) {
      if (isa<RankedTensorType>(value.getType())) {
        nodes.push_back(nullptr);
        emitter.setReady(value);
        continue;
      }
      nodes.push_back(emitter.ir.CreatePHI(emitter.lanes.typeOf(value.getType(), 1), 2));
      emitter.define(value, nodes.back());
    }
  }
  void add(ArrayRef<llvm::Value *> values, llvm::BasicBlock *from) {
    for (auto [node, value] : llvm::zip_equal(nodes, values))
      if (node)
        node->addIncoming(value, from);
  }
};
} // namespace

static SmallVector<llvm::Value *> emittedScalars(KernelEmitter &emitter, ValueRange values) {
  SmallVector<llvm::Value *> result;
  for (Value value : values)
    result.push_back(isa<RankedTensorType>(value.getType()) ? nullptr : emitter.scalar(value));
  return result;
}

llvm::Value *KernelEmitter::isLastIteration(scf::ForOp loop) {
  llvm::Value *rest = ir.CreateSub(scalar(loop.getUpperBound()), scalar(loop.getInductionVar()));
  return ir.CreateICmpULE(rest, scalar(loop.getStep()));
}

LogicalResult KernelEmitter::emitFor(const Step &step) {
  auto loop = cast<scf::ForOp>(step.op);
  llvm::Value *lower = scalar(loop.getLowerBound()), *upper = scalar(loop.getUpperBound());
  llvm::Value *stride = scalar(loop.getStep());
  SmallVector<llvm::Value *> inits = emittedScalars(*this, loop.getInitArgs());
  auto runs = [&](llvm::Value *index) {
    return loop.getUnsignedCmp() ? ir.CreateICmpULT(index, upper) : ir.CreateICmpSLT(index, upper);
  };
  if (step.regions.size() > 1) {
    llvm::BasicBlock *empty = newBlock("for.empty"), *start = newBlock("for.start");
    ir.CreateCondBr(runs(lower), start, empty);
    ir.SetInsertPoint(empty);
    if (failed(emitSequence(step.regions[1])))
      return failure();
    ir.CreateBr(start);
    ir.SetInsertPoint(start);
  }
  llvm::BasicBlock *before = ir.GetInsertBlock();
  llvm::BasicBlock *header = newBlock("for"), *body = newBlock("for.body"), *after = newBlock("for.end");
  ir.CreateBr(header);

  ir.SetInsertPoint(header);
  llvm::PHINode *index = ir.CreatePHI(lower->getType(), 2);
  index->addIncoming(lower, before);
  define(loop.getInductionVar(), index);
  Phis carried(*this, loop.getRegionIterArgs());
  carried.add(inits, before);
  // A tile with two buffers swaps them at each iteration.
  SmallVector<std::pair<BufferId, std::pair<llvm::PHINode *, llvm::PHINode *>>> swaps;
  for (std::optional<BufferId> id : plan.carried.lookup(loop)) {
    if (!id || !plan.buffers[*id].isDouble)
      continue;
    llvm::PHINode *now = ir.CreatePHI(ir.getPtrTy(), 2), *later = ir.CreatePHI(ir.getPtrTy(), 2);
    now->addIncoming(current[*id], before);
    llvm::IRBuilder<> outside(before->getTerminator());
    later->addIncoming(outside.CreateConstGEP1_64(ir.getInt8Ty(), current[*id], plan.buffers[*id].bytes), before);
    current[*id] = now;
    next[*id] = later;
    swaps.push_back({*id, {now, later}});
  }
  llvm::PHINode *iteration = nullptr;
  if (llvm::any_of(plan.keptOperands, [&](const KeptOperand &operand) { return operand.loop == loop; })) {
    iteration = ir.CreatePHI(ir.getInt64Ty(), 2);
    iteration->addIncoming(ir.getInt64(0), before);
  }
  ir.CreateCondBr(runs(index), body, after);

  ir.SetInsertPoint(body);
  ++loopDepth;
  planPrefetches(step, index, upper, stride);
  if (iteration)
    beginIteration(loop, iteration);
  if (failed(emitSequence(step.regions.front())))
    return failure();
  --loopDepth;
  if (iteration) {
    iteration->addIncoming(ir.CreateAdd(iteration, ir.getInt64(1)), ir.GetInsertBlock());
    endIteration(loop);
  }
  setLocation(loop.getLoc());
  SmallVector<llvm::Value *> yields = yielded(loop.getBody()->getTerminator());
  // The iteration after the last one has the bound itself: a step may overflow the type.
  index->addIncoming(ir.CreateSelect(isLastIteration(loop), upper, ir.CreateAdd(index, stride)), ir.GetInsertBlock());
  carried.add(yields, ir.GetInsertBlock());
  for (auto &[id, phis] : swaps) {
    phis.first->addIncoming(phis.second, ir.GetInsertBlock());
    phis.second->addIncoming(phis.first, ir.GetInsertBlock());
    next[id] = nullptr;
  }
  lowering::attachLoopHints(loop, ir.CreateBr(header));

  ir.SetInsertPoint(after);
  for (auto [value, node] : llvm::zip_equal(loop.getResults(), carried.nodes))
    node ? define(value, node) : setReady(value);
  return success();
}

LogicalResult KernelEmitter::emitWhile(const Step &step) {
  auto loop = cast<scf::WhileOp>(step.op);
  SmallVector<llvm::Value *> inits = emittedScalars(*this, loop.getInits());
  llvm::BasicBlock *entry = ir.GetInsertBlock();
  llvm::BasicBlock *before = newBlock("while"), *body = newBlock("while.body"), *after = newBlock("while.end");
  ir.CreateBr(before);

  ir.SetInsertPoint(before);
  Phis carried(*this, loop.getBeforeArguments());
  carried.add(inits, entry);
  llvm::PHINode *isFirst = nullptr;
  if (cpu::waitKind(loop)) {
    isFirst = ir.CreatePHI(ir.getInt32Ty(), 2);
    isFirst->addIncoming(ir.getInt32(1), entry);
  }
  ++loopDepth;
  if (failed(emitSequence(step.regions[0])))
    return failure();
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<llvm::Value *> forwarded = yielded(condition);
  for (auto [inside, outside, value] : llvm::zip_equal(loop.getAfterArguments(), loop.getResults(), forwarded)) {
    if (value) {
      define(inside, value);
      define(outside, value);
    } else {
      setReady(inside);
      setReady(outside);
    }
  }
  ir.CreateCondBr(scalar(condition.getCondition()), body, after);

  ir.SetInsertPoint(body);
  if (failed(emitSequence(step.regions[1])))
    return failure();
  --loopDepth;
  if (isFirst) {
    emitWait(loop, isFirst);
    isFirst->addIncoming(ir.getInt32(0), ir.GetInsertBlock());
  }
  carried.add(yielded(loop.getYieldOp()), ir.GetInsertBlock());
  lowering::attachLoopHints(loop, ir.CreateBr(before));
  ir.SetInsertPoint(after);
  return success();
}

LogicalResult KernelEmitter::emitIf(const Step &step) {
  auto branch = cast<scf::IfOp>(step.op);
  llvm::BasicBlock *sides[] = {newBlock("then"), newBlock("else")};
  llvm::BasicBlock *after = newBlock("endif");
  ir.CreateCondBr(scalar(branch.getCondition()), sides[0], sides[1]);
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
  Phis merged(*this, branch.getResults());
  for (auto &[values, block] : ends)
    merged.add(values, block);
  return success();
}

LogicalResult KernelEmitter::emitSwitch(const Step &step) {
  auto choice = cast<scf::IndexSwitchOp>(step.op);
  llvm::BasicBlock *after = newBlock("endswitch"), *otherwise = newBlock("default");
  llvm::SwitchInst *branch = ir.CreateSwitch(scalar(choice.getArg()), otherwise, choice.getNumCases());
  SmallVector<std::pair<SmallVector<llvm::Value *>, llvm::BasicBlock *>> ends;
  for (auto [index, region] : llvm::enumerate(step.regions)) { // the default region comes first
    llvm::BasicBlock *block = index == 0 ? otherwise : newBlock("case");
    if (index > 0)
      branch->addCase(ir.getInt64(choice.getCases()[index - 1]), block);
    ir.SetInsertPoint(block);
    if (failed(emitSequence(region)))
      return failure();
    ends.push_back({yielded(region.block->getTerminator()), ir.GetInsertBlock()});
    ir.CreateBr(after);
  }
  ir.SetInsertPoint(after);
  Phis merged(*this, choice.getResults());
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

FailureOr<SmallVector<llvm::Value *>> KernelEmitter::emitScalarBlock(Block &block) {
  FailureOr<Sequence> steps = scalarSteps(block);
  if (failed(steps) || failed(emitSequence(*steps)))
    return failure();
  SmallVector<llvm::Value *> results;
  for (Value operand : block.getTerminator()->getOperands())
    results.push_back(scalar(operand));
  return results;
}
