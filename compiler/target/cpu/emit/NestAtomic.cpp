// Emits the atomic accesses of a chunk's lanes, one lane after the other.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/Atomics.h"
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/plan/Writes.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Stores the lanes to the stack, where a loop can index them.
llvm::AllocaInst *NestEmitter::spill(llvm::Value *vector) {
  llvm::AllocaInst *slot = function.local(vector->getType());
  ir.CreateStore(vector, slot);
  return slot;
}

/// The accesses of all set lanes; returns the old values in memory as a vector, undefined where a lane is not set.
llvm::Value *NestEmitter::emitAtomicLanes(Operation *op, ChunkAccess access, llvm::Value *mask,
                                          const AtomicOperands &operands) {
  auto pick = [&](llvm::AllocaInst *slot, llvm::Value *lane) -> llvm::Value * {
    llvm::Type *type = cast<llvm::VectorType>(slot->getAllocatedType())->getElementType();
    return ir.CreateLoad(type, ir.CreateGEP(type, slot, lane));
  };
  llvm::AllocaInst *addresses = access.stride ? nullptr : spill(access.address);
  llvm::AllocaInst *values = operands.value ? spill(operands.value) : nullptr;
  llvm::AllocaInst *compared = operands.compared ? spill(operands.compared) : nullptr;
  llvm::AllocaInst *results = nullptr;
  if (!op->use_empty())
    results = function.local(function.lanes.typeOf(tt::elementOf(op->getResult(0).getType()), nest.lanes));
  forEachLane(mask, [&](llvm::Value *lane) {
    llvm::Value *address = addresses ? pick(addresses, lane) : laneAddress(access, lane);
    llvm::Value *old = emitAtomic(ir, function.lanes, op, address,
                                  {values ? pick(values, lane) : nullptr, compared ? pick(compared, lane) : nullptr});
    if (results)
      ir.CreateStore(old, ir.CreateGEP(old->getType(), results, lane));
  });
  return results ? ir.CreateLoad(results->getAllocatedType(), results) : nullptr;
}

LogicalResult NestEmitter::emitAtomicRoot(const Root &root, unsigned level) {
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (Value given = maskOfWrite(root.op))
    mask = evaluate(given, map, level);
  if (!mask)
    return failure();
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (truth && truth->isZero())
    return success();
  auto swap = dyn_cast<tt::AtomicCASOp>(root.op);
  Value given = valueOfAtomic(root.op);
  Element value = given ? evaluate(given, map, level) : Element();
  Element compared = swap ? evaluate(swap.getCmp(), map, level) : Element();
  IndexMap loops = map;
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent == 1)
      loops[dim] = -1;
  ChunkAccess access = value || !given ? accessOf(root.op->getOperand(0), loops, nullptr) : ChunkAccess();
  if (!access.address || (swap && !compared))
    return failure();
  const ChunkAccess result = root.buffers.empty() ? ChunkAccess() : resultAccess(root);
  insertAt(level);
  if (nest.lanes > 1) {
    AtomicOperands operands{given ? asVector(value) : nullptr, swap ? asVector(compared) : nullptr};
    llvm::Value *old = emitAtomicLanes(root.op, access, truth ? nullptr : asVector(mask), operands);
    if (result.address)
      write(result, tt::elementOf(root.op->getResult(0).getType()), old, nullptr);
    return success();
  }
  emitWhere(mask.value, [&] {
    llvm::Value *old = emitAtomic(ir, function.lanes, root.op, access.address, {value.value, compared.value});
    if (result.address)
      ir.CreateStore(old, result.address);
  });
  return success();
}

/// The location of a chunk's results in the buffer.
ChunkAccess NestEmitter::resultAccess(const Root &root) {
  IndexMap map = identityMap(nest.shape.size());
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent == 1)
      map[dim] = -1;
  return bufferAccess(function.buffer(root.buffers.front()), root.op->getResult(0).getType(), map);
}
