// Emits a kernel's LLVM function from its plan: parameters, the program loop, the steps of the plan.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/KernelEmitter.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/target/cpu/emit/AmxEmitter.h"
#include "compiler/target/cpu/emit/Atomics.h"
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/DotEmitter.h"
#include "compiler/target/cpu/emit/Overlap.h"
#include "compiler/target/cpu/emit/VersionEmitter.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

KernelEmitter::KernelEmitter(llvm::Module &module, tt::FuncOp kernel, const LoopPlan &plan, AffineInfo &affineInfo,
                             const CpuFeatures &machine, const support::Options &options)
    : kernel(kernel), ir(module.getContext()), lanes(ir, machine, options.enableFpFusion),
      frame(ir, module, kernel, machine), scalars(ir, lanes, affineInfo), buffers(plan),
      context{ir,      lanes,        plan,       affineInfo, machine, frame,   scalars,  buffers,
              program, keptOperands, prefetches, streaming,  host,    control, positions},
      keptOperands(context), prefetches(context), streaming(context), host(context, kernel),
      control(context, [this](const Sequence &sequence) { return emitSequence(sequence); }) {
  kernel.walk<WalkOrder::PreOrder>([&, next = 1u](Operation *op) mutable { positions[op] = next++; });
}

//--- parameters and programs ---------------------------------------------------------------

void KernelEmitter::loadParameters() {
  for (auto [argument, param] : llvm::zip_equal(kernel.getArguments(), lowering::paramsOf(kernel))) {
    llvm::Value *address = ir.CreateConstGEP1_64(ir.getInt8Ty(), frame.packed(), param.offset);
    llvm::Value *value = ir.CreateLoad(lanes.memoryType(argument.getType()), address);
    if (argument.getType().isInteger(1))
      value = ir.CreateTrunc(value, ir.getInt1Ty());
    scalars.define(argument, value);
  }
  for (unsigned dim = 0; dim < 3; ++dim)
    program.gridSize[dim] = ir.CreateLoad(ir.getInt32Ty(), ir.CreateConstGEP1_64(ir.getInt32Ty(), frame.grid(), dim));
}

LogicalResult KernelEmitter::run() {
  ir.SetInsertPoint(frame.newBlock("entry"));
  frame.setLocation(kernel.getLoc());
  loadParameters();
  buffers.begin(ir, frame.arena());
  streaming.begin();
  LogicalResult result = emitPrograms();
  frame.finish();
  return result;
}

/// for (id = begin; id < end; ++id), with the ids along the three axes updated in step.
LogicalResult KernelEmitter::emitPrograms() {
  llvm::Value *begin = frame.firstProgram(), *end = frame.endOfPrograms();
  llvm::Type *wide = ir.getInt64Ty();
  llvm::Value *gridX = ir.CreateZExt(program.gridSize[0], wide), *gridY = ir.CreateZExt(program.gridSize[1], wide);
  llvm::Value *zero = ir.getInt32(0), *one = ir.getInt32(1);
  llvm::BasicBlock *first = frame.newBlock("first"), *body = frame.newBlock("program"), *done = frame.newBlock("done");
  program.done = done;
  ir.CreateCondBr(ir.CreateICmpULT(begin, end), first, done);

  ir.SetInsertPoint(first); // the grid is not empty here: no division by zero
  llvm::Value *row = ir.CreateUDiv(begin, gridX);
  llvm::Value *firstIds[] = {ir.CreateTrunc(ir.CreateURem(begin, gridX), ir.getInt32Ty()),
                             ir.CreateTrunc(ir.CreateURem(row, gridY), ir.getInt32Ty()),
                             ir.CreateTrunc(ir.CreateUDiv(row, gridY), ir.getInt32Ty())};
  const bool hasTiles = usesTiles(context.plan);
  if (hasTiles)
    emitBeginOfTiles(ir);
  llvm::Value *programs = ir.CreateMul(ir.CreateMul(gridX, gridY), ir.CreateZExt(program.gridSize[2], wide));
  keptOperands.begin(ir.CreateICmpEQ(programs, ir.getInt64(1)));
  llvm::BasicBlock *entering = ir.GetInsertBlock();
  ir.CreateBr(body);

  ir.SetInsertPoint(body);
  llvm::PHINode *id = ir.CreatePHI(wide, 2, "id");
  llvm::PHINode *ids[3];
  for (unsigned dim = 0; dim < 3; ++dim) {
    ids[dim] = ir.CreatePHI(ir.getInt32Ty(), 2);
    ids[dim]->addIncoming(firstIds[dim], entering);
    program.id[dim] = ids[dim];
  }
  id->addIncoming(begin, entering);
  prefetches.beginProgram();
  if (failed(emitSequence(context.plan.body)))
    return failure();

  frame.setLocation(kernel.getLoc());
  llvm::Value *nextId = ir.CreateAdd(id, ir.getInt64(1));
  llvm::Value *x = ir.CreateAdd(ids[0], one);
  llvm::Value *isRowDone = ir.CreateICmpEQ(x, program.gridSize[0]);
  llvm::Value *y = ir.CreateAdd(ids[1], ir.CreateZExt(isRowDone, ir.getInt32Ty()));
  llvm::Value *isPlaneDone = ir.CreateICmpEQ(y, program.gridSize[1]);
  llvm::Value *nextIds[] = {ir.CreateSelect(isRowDone, zero, x), ir.CreateSelect(isPlaneDone, zero, y),
                            ir.CreateAdd(ids[2], ir.CreateZExt(isPlaneDone, ir.getInt32Ty()))};
  for (unsigned dim = 0; dim < 3; ++dim)
    ids[dim]->addIncoming(nextIds[dim], ir.GetInsertBlock());
  id->addIncoming(nextId, ir.GetInsertBlock());
  llvm::BasicBlock *last = frame.newBlock("last");
  ir.CreateCondBr(ir.CreateICmpULT(nextId, end), body, last);
  ir.SetInsertPoint(last);
  keptOperands.end();
  ir.CreateBr(done);
  ir.SetInsertPoint(done);
  if (hasTiles)
    emitEndOfTiles(ir);
  streaming.end();
  ir.CreateRetVoid();
  return success();
}

//--- scalars -------------------------------------------------------------------------------

LogicalResult KernelEmitter::emitStraight(Operation *op) {
  SmallVector<llvm::Value *> operands;
  for (Value operand : op->getOperands())
    operands.push_back(scalars.of(operand));
  auto results = lanes.emit(op, operands);
  if (results.empty())
    return failure();
  for (auto [value, emitted] : llvm::zip_equal(op->getResults(), results))
    scalars.define(value, emitted);
  return success();
}

LogicalResult KernelEmitter::emitScalarMemory(Operation *op) {
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    llvm::Value *value = scalars.of(store.getValue());
    if (store.getValue().getType().isInteger(1))
      value = ir.CreateZExt(value, ir.getInt8Ty());
    llvm::Value *isWritten = store.getMask() ? scalars.of(store.getMask()) : ir.getTrue();
    emitConditional(ir, isWritten, [&] { ir.CreateStore(value, scalars.of(store.getPtr())); });
    return success();
  }
  auto load = cast<tt::LoadOp>(op);
  llvm::Type *type = lanes.memoryType(load.getType());
  auto read = [&] {
    llvm::LoadInst *value = ir.CreateLoad(type, scalars.of(load.getPtr()), load.getIsVolatile());
    return load.getType().isInteger(1) ? ir.CreateTrunc(value, ir.getInt1Ty()) : static_cast<llvm::Value *>(value);
  };
  if (!load.getMask()) {
    scalars.define(load.getResult(), read());
    return success();
  }
  llvm::Value *other = load.getOther() ? scalars.of(load.getOther()) : lanes.constant({}, load.getType(), 1);
  scalars.define(load.getResult(), emitWhereOr(ir, scalars.of(load.getMask()), other, read));
  return success();
}

void KernelEmitter::emitScalarAtomic(tt::MemoryAccessOpInterface op) {
  auto swap = dyn_cast<tt::AtomicCASOp>(*op);
  Value value = op.getStoredValue(), result = op->getNumResults() ? Value(op->getResult(0)) : Value();
  auto access = [&]() -> llvm::Value * {
    return emitAtomic(ir, lanes, op, scalars.of(op.getAccessedPointer()),
                      {value ? scalars.of(value) : nullptr, swap ? scalars.of(swap.getCmp()) : nullptr});
  };
  llvm::Value *isDone = op.getAccessMask() ? scalars.of(op.getAccessMask()) : nullptr;
  if (!result)
    return isDone ? emitConditional(ir, isDone, access) : void(access());
  llvm::Value *other = lanes.constant({}, result.getType(), 1);
  scalars.define(result, isDone ? emitWhereOr(ir, isDone, other, access) : access());
}

LogicalResult KernelEmitter::emitScalar(Operation *op) {
  frame.setLocation(op->getLoc());
  if (auto access = dyn_cast<tt::MemoryAccessOpInterface>(op); access && access.isAtomic()) {
    emitScalarAtomic(access);
    host.emitArrival(op);
    return success();
  }
  if (isa<tt::StoreOp, tt::LoadOp>(op))
    return emitScalarMemory(op);
  if (auto print = dyn_cast<tt::PrintOp>(op)) {
    host.emitPrint(print);
    return success();
  }
  if (auto assertion = dyn_cast<tt::AssertOp>(op)) {
    host.emitAssert(assertion);
    return success();
  }
  if (auto check = dyn_cast<check::ValuesOp>(op)) {
    host.emitCheck(check);
    return success();
  }
  if (isa<ttg::BarrierOp>(op)) // a program is one thread
    return success();
  if (op->getName().getStringRef() == "llvm.intr.assume") {
    ir.CreateAssumption(scalars.of(op->getOperand(0)));
    return success();
  }
  if (auto id = dyn_cast<tt::GetProgramIdOp>(op)) {
    scalars.define(id.getResult(), program.id[static_cast<unsigned>(id.getAxis())]);
    return success();
  }
  if (auto count = dyn_cast<tt::GetNumProgramsOp>(op)) {
    scalars.define(count.getResult(), program.gridSize[static_cast<unsigned>(count.getAxis())]);
    return success();
  }
  if (op->getNumResults() == 1)
    if (llvm::Value *constant = scalars.constantOf(op->getResult(0))) {
      scalars.define(op->getResult(0), constant);
      return success();
    }
  return emitStraight(op);
}

//--- steps ---------------------------------------------------------------------------------

LogicalResult KernelEmitter::emitSequence(const Sequence &sequence) {
  for (const Step &step : sequence.steps)
    if (failed(emitStep(step)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emitStep(const Step &step) {
  switch (step.kind) {
  case StepKind::Scalar:
    return emitScalar(step.op);
  case StepKind::Nest:
    return VersionEmitter(context, *step.nest).run();
  case StepKind::Guard:
    return emitGuard(context, step);
  case StepKind::Dot:
    frame.setLocation(step.op->getLoc());
    emitDot(context, step);
    buffers.setReady(step.op->getResult(0));
    return success();
  case StepKind::Control:
    return control.emit(step);
  }
  llvm_unreachable("all kinds are listed");
}
