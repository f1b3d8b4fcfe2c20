// Emits the elements of loads.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/emit/nest/LaneLoop.h"
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Loads one element where the mask holds; `other` elsewhere.
static Element emitScalarLoad(NestContext &context, ChunkAccess access, Type element, llvm::Value *mask,
                              llvm::Value *other) {
  llvm::IRBuilder<> &ir = context.ir;
  llvm::Value *value = other;
  llvm::AllocaInst *slot = isa<llvm::ConstantInt>(mask) ? nullptr : context.frame.local(value->getType());
  if (slot)
    ir.CreateStore(value, slot);
  emitWhere(context, mask, [&] {
    value = context.memory.readElement(access, element, /*isVector=*/false).value;
    if (slot)
      ir.CreateStore(value, slot);
  });
  return {slot ? static_cast<llvm::Value *>(ir.CreateLoad(slot->getAllocatedType(), slot)) : value, false};
}

static Element emitLoad(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  auto load = cast<tt::LoadOp>(result.getOwner());
  Type element = tt::elementOf(load.getType());
  Element mask{context.ir.getTrue(), false}, other{context.lanes.constant({}, element, 1), false};
  if (context.chunk.isOneInactive && llvm::is_contained(map, context.nest.vectorDim)) // masked off, whatever else
    return load.getOther() ? context.elements.evaluate(load.getOther(), map, level) : other;
  if (load.getMask())
    mask = context.elements.evaluate(load.getMask(), map, level);
  if (!mask)
    return {};
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (load.getOther() && !(truth && truth->isOne()))
    other = context.elements.evaluate(load.getOther(), map, level);
  if (!other || (truth && truth->isZero()))
    return other;
  ChunkAccess access = context.addresses.of(load.getPtr(), map, load);
  if (!access.address)
    return {};
  context.levels.insertAt(level);
  if (!context.isVector(map))
    return emitScalarLoad(context, access, element, mask.value, other.value);
  context.memory.prefetchNext(load, access, element);
  if (truth)
    return context.memory.readElement(access, element, /*isVector=*/true);
  if (context.chunk.part == NestPart::Main && !mask.isVector)
    return {context.memory.readWhere(mask.value, access, element, context.asVector(other)), true};
  llvm::Value *lanes = context.asVector(mask);
  return {context.memory.read(access, element, lanes, context.asVector(other)), true};
}

namespace nereid::cpu {
extern const ElementTraits loadElement = {.matches = [](Operation *op) { return isa<tt::LoadOp>(op); },
                                          .emit = emitLoad};
} // namespace nereid::cpu
