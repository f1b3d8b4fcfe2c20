// Emits the atomic accesses of a chunk's lanes, one lane after the other.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Atomics.h"
#include "compiler/target/cpu/emit/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class AtomicEmitter : public RootEmitter {
public:
  using RootEmitter::RootEmitter;
  LogicalResult emit(unsigned level) override;

private:
  llvm::Value *emitLanes(ChunkAccess access, llvm::Value *mask, const AtomicOperands &operands);
  llvm::AllocaInst *spill(llvm::Value *vector);
};
} // namespace

/// Stores the lanes to the stack, where a loop can index them.
llvm::AllocaInst *AtomicEmitter::spill(llvm::Value *vector) {
  llvm::AllocaInst *slot = context.frame.local(vector->getType());
  ir.CreateStore(vector, slot);
  return slot;
}

/// The accesses of all set lanes; returns the old values in memory as a vector, undefined where a lane is not set.
llvm::Value *AtomicEmitter::emitLanes(ChunkAccess access, llvm::Value *mask, const AtomicOperands &operands) {
  Operation *op = root.op;
  auto pick = [&](llvm::AllocaInst *slot, llvm::Value *lane) -> llvm::Value * {
    llvm::Type *type = cast<llvm::VectorType>(slot->getAllocatedType())->getElementType();
    return ir.CreateLoad(type, ir.CreateGEP(type, slot, lane));
  };
  llvm::AllocaInst *addresses = access.stride ? nullptr : spill(access.address);
  llvm::AllocaInst *values = operands.value ? spill(operands.value) : nullptr;
  llvm::AllocaInst *compared = operands.compared ? spill(operands.compared) : nullptr;
  llvm::AllocaInst *results = nullptr;
  if (!op->use_empty())
    results = context.frame.local(context.lanes.typeOf(tt::elementOf(op->getResult(0).getType()), emitter.chunkLanes));
  emitter.forEachLane(mask, [&](llvm::Value *lane) {
    llvm::Value *address = addresses ? pick(addresses, lane) : emitter.laneAddress(access, lane);
    llvm::Value *old = emitAtomic(ir, context.lanes, op, address,
                                  {values ? pick(values, lane) : nullptr, compared ? pick(compared, lane) : nullptr});
    if (results)
      ir.CreateStore(old, ir.CreateGEP(old->getType(), results, lane));
  });
  return results ? ir.CreateLoad(results->getAllocatedType(), results) : nullptr;
}

LogicalResult AtomicEmitter::emit(unsigned level) {
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (Value given = root.access().getAccessMask())
    mask = emitter.evaluate(given, map, level);
  if (!mask)
    return failure();
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (truth && truth->isZero())
    return success();
  auto swap = dyn_cast<tt::AtomicCASOp>(root.op);
  Value given = root.access().getStoredValue();
  Element value = given ? emitter.evaluate(given, map, level) : Element();
  Element compared = swap ? emitter.evaluate(swap.getCmp(), map, level) : Element();
  ChunkAccess access =
      value || !given ? emitter.accessOf(root.op->getOperand(0), emitter.chunkMap(), nullptr) : ChunkAccess();
  if (!access.address || (swap && !compared))
    return failure();
  ChunkAccess result;
  if (!root.buffers.empty())
    result = emitter.bufferAccess(context.buffers.at(root.buffers.front()), root.buffers.front(),
                                  root.op->getResult(0).getType(), emitter.chunkMap());
  emitter.insertAt(level);
  if (emitter.chunkLanes > 1) {
    AtomicOperands operands{given ? emitter.asVector(value) : nullptr, swap ? emitter.asVector(compared) : nullptr};
    llvm::Value *old = emitLanes(access, truth ? nullptr : emitter.asVector(mask), operands);
    if (result.address)
      emitter.write(result, tt::elementOf(root.op->getResult(0).getType()), old, nullptr);
    return success();
  }
  emitter.emitWhere(mask.value, [&] {
    llvm::Value *old = emitAtomic(ir, context.lanes, root.op, access.address, {value.value, compared.value});
    if (result.address)
      ir.CreateStore(old, result.address);
  });
  return success();
}

static void printAtomic(llvm::raw_ostream &out, Operation *op, AccessText access) {
  auto combine = dyn_cast<tt::AtomicRMWOp>(op);
  const StringRef name = combine ? tt::stringifyRMWOp(combine.getAtomicRmwOp())
                                 : op->getName().stripDialect().drop_front(StringRef("atomic_").size());
  out << "atomic " << name << " " << access(op->getOperand(0))
      << (cast<tt::MemoryAccessOpInterface>(op).getAccessMask() ? " masked" : "");
}

static bool isAtomic(Operation *op) {
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  return access && access.isAtomic();
}

namespace nereid::cpu {
extern const RootTraits atomicRoot = {.matches = isAtomic,
                                      .purpose = "old",
                                      .skipsUnused = true,
                                      .isWrite = true,
                                      .isAlone = true,
                                      .isLaneByLane = [](Operation *, int) { return true; },
                                      .print = printAtomic,
                                      .emitter = makeEmitter<AtomicEmitter>};
} // namespace nereid::cpu
