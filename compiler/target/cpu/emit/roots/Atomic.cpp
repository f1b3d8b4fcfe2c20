// Emits the atomic accesses of a chunk's lanes, one lane after the other.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Atomics.h"
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

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
};
} // namespace

/// The accesses of all set lanes; returns the old values in memory as a vector, undefined where a lane is not set.
llvm::Value *AtomicEmitter::emitLanes(ChunkAccess access, llvm::Value *mask, const AtomicOperands &operands) {
  Operation *op = root.op;
  llvm::AllocaInst *addresses = access.stride ? nullptr : spillLanes(context, access.address);
  llvm::AllocaInst *values = operands.value ? spillLanes(context, operands.value) : nullptr;
  llvm::AllocaInst *compared = operands.compared ? spillLanes(context, operands.compared) : nullptr;
  llvm::AllocaInst *results = nullptr;
  if (!op->use_empty())
    results = context.frame.local(context.lanes.typeOf(tt::elementOf(op->getResult(0).getType()), chunk.lanes));
  forEachLane(context, mask, [&](llvm::Value *lane) {
    llvm::Value *address = addresses ? loadLane(ir, addresses, lane) : context.addresses.ofLane(access, lane);
    llvm::Value *old =
        emitAtomic(ir, context.lanes, op, address,
                   {values ? loadLane(ir, values, lane) : nullptr, compared ? loadLane(ir, compared, lane) : nullptr});
    if (results)
      ir.CreateStore(old, ir.CreateGEP(old->getType(), results, lane));
  });
  return results ? ir.CreateLoad(results->getAllocatedType(), results) : nullptr;
}

LogicalResult AtomicEmitter::emit(unsigned level) {
  Element mask{ir.getTrue(), false};
  if (Value condition = root.access().getAccessMask())
    mask = evaluate(condition, level);
  if (!mask)
    return failure();
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (truth && truth->isZero())
    return success();
  auto swap = dyn_cast<tt::AtomicCASOp>(root.op);
  Value stored = root.access().getStoredValue();
  Element value = stored ? evaluate(stored, level) : Element();
  Element compared = swap ? evaluate(swap.getCmp(), level) : Element();
  ChunkAccess access = value || !stored
                           ? context.addresses.of(root.op->getOperand(0), context.addresses.chunkMap(), nullptr)
                           : ChunkAccess();
  if (!access.address || (swap && !compared))
    return failure();
  ChunkAccess result;
  if (!root.buffers.empty())
    result = context.addresses.ofBuffer(context.buffers.at(root.buffers.front()), root.buffers.front(),
                                        root.op->getResult(0).getType(), context.addresses.chunkMap());
  levels.insertAt(level);
  if (chunk.lanes > 1) {
    AtomicOperands operands{stored ? context.asVector(value) : nullptr, swap ? context.asVector(compared) : nullptr};
    llvm::Value *old = emitLanes(access, truth ? nullptr : context.asVector(mask), operands);
    if (result.address)
      context.memory.write(result, tt::elementOf(root.op->getResult(0).getType()), old, nullptr);
    return success();
  }
  emitWhere(context, mask.value, [&] {
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
