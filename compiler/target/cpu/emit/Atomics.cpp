// Emits one atomic access to one element.
// SPDX-License-Identifier: MIT
//
// LLVM expands what the machine has no instruction for into a loop around compare-and-swap; f16 and bf16, held as bits,
// have their loop here.
#include "compiler/target/cpu/emit/Atomics.h"
#include "artifact/ElementType.h"

#include "compiler/lowering/AtomicForms.h"
#include "compiler/target/cpu/emit/ControlFlow.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;
using lowering::atomicOperationOf;
using lowering::orderingOf;

static llvm::Value *emitSwap(llvm::IRBuilder<> &ir, llvm::Value *address, llvm::Value *compared, llvm::Value *value,
                             llvm::AtomicOrdering ordering) {
  const llvm::Align align(artifact::bytesOfBits(value->getType()->getScalarSizeInBits()));
  return ir.CreateAtomicCmpXchg(address, compared, value, align, ordering,
                                llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering));
}

/// do { old = memory; } while (!swap(memory, old, old + value)), on the bits of small floats.
static llvm::Value *emitSmallAdd(llvm::IRBuilder<> &ir, LaneEmitter &lanes, Type element, llvm::Value *address,
                                 llvm::Value *value, llvm::AtomicOrdering ordering) {
  const llvm::DebugLoc location = ir.getCurrentDebugLocation();
  llvm::LoadInst *first = ir.CreateAlignedLoad(value->getType(), address, llvm::Align(2));
  first->setAtomic(llvm::AtomicOrdering::Monotonic);
  llvm::Value *addend = lanes.widen(value, element);
  llvm::BasicBlock *after = splitHere(ir, "swapped"), *before = ir.GetInsertBlock();
  ir.SetCurrentDebugLocation(location);
  llvm::BasicBlock *loop = llvm::BasicBlock::Create(ir.getContext(), "swap", before->getParent(), after);
  ir.CreateBr(loop);
  ir.SetInsertPoint(loop);
  llvm::PHINode *old = ir.CreatePHI(value->getType(), 2);
  old->addIncoming(first, before);
  llvm::Value *sum = lanes.narrow(ir.CreateFAdd(lanes.widen(old, element), addend), element);
  llvm::Value *swapped = emitSwap(ir, address, old, sum, ordering);
  old->addIncoming(ir.CreateExtractValue(swapped, 0), ir.GetInsertBlock());
  ir.CreateCondBr(ir.CreateExtractValue(swapped, 1), after, loop);
  ir.SetInsertPoint(after, after->begin());
  ir.SetCurrentDebugLocation(location);
  return old;
}

/// Loads the bits: LLVM has no atomic access to some of the lane types.
static llvm::Value *emitLoad(llvm::IRBuilder<> &ir, LaneEmitter &lanes, tt::AtomicLoadOp op, llvm::Value *address) {
  llvm::Type *held = lanes.typeOf(tt::elementOf(op.getType()), 1);
  llvm::Type *stored = lanes.memoryType(tt::elementOf(op.getType()));
  const unsigned bits = stored->getScalarSizeInBits();
  llvm::LoadInst *load = ir.CreateAlignedLoad(ir.getIntNTy(bits), address, llvm::Align(artifact::bytesOfBits(bits)));
  load->setAtomic(orderingOf(op.getSem()));
  llvm::Value *value = ir.CreateBitCast(load, stored);
  return held == stored ? value : ir.CreateIsNotNull(value); // i1 is a byte in memory
}

static void emitStore(llvm::IRBuilder<> &ir, LaneEmitter &lanes, tt::AtomicStoreOp op, llvm::Value *address,
                      llvm::Value *value) {
  llvm::Type *stored = lanes.memoryType(tt::elementOf(op.getVal().getType()));
  const unsigned bits = stored->getScalarSizeInBits();
  if (value->getType() != stored)
    value = ir.CreateZExt(value, stored);
  ir.CreateAlignedStore(ir.CreateBitCast(value, ir.getIntNTy(bits)), address, llvm::Align(artifact::bytesOfBits(bits)))
      ->setAtomic(orderingOf(op.getSem()));
}

llvm::Value *cpu::emitAtomic(llvm::IRBuilder<> &ir, LaneEmitter &lanes, Operation *op, llvm::Value *address,
                             const AtomicOperands &operands) {
  if (auto load = dyn_cast<tt::AtomicLoadOp>(op))
    return emitLoad(ir, lanes, load, address);
  if (auto store = dyn_cast<tt::AtomicStoreOp>(op)) {
    emitStore(ir, lanes, store, address, operands.value);
    return nullptr;
  }
  llvm::Type *type = operands.value->getType();
  if (auto swap = dyn_cast<tt::AtomicCASOp>(op)) {
    llvm::Type *bits = ir.getIntNTy(type->getScalarSizeInBits());
    llvm::Value *swapped = emitSwap(ir, address, ir.CreateBitCast(operands.compared, bits),
                                    ir.CreateBitCast(operands.value, bits), orderingOf(swap.getSem()));
    return ir.CreateBitCast(ir.CreateExtractValue(swapped, 0), type);
  }
  auto combine = cast<tt::AtomicRMWOp>(op);
  const llvm::AtomicOrdering ordering = orderingOf(combine.getSem());
  Type element = tt::elementOf(combine.getVal().getType());
  if (combine.getAtomicRmwOp() == tt::RMWOp::FADD && element.getIntOrFloatBitWidth() == 16)
    return emitSmallAdd(ir, lanes, element, address, operands.value, ordering);
  return ir.CreateAtomicRMW(atomicOperationOf(combine.getAtomicRmwOp()), address, operands.value,
                            llvm::Align(artifact::bytesOfBits(type->getScalarSizeInBits())), ordering);
}
