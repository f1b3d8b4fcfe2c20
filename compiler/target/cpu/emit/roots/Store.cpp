// Emits stores of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
struct StoreEmitter : RootEmitter {
  using RootEmitter::RootEmitter;
  LogicalResult emit(unsigned level) override;
};
} // namespace

LogicalResult StoreEmitter::emit(unsigned level) {
  auto store = cast<tt::StoreOp>(root.op);
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (store.getMask())
    mask = emitter.evaluate(store.getMask(), map, level);
  if (!mask)
    return failure();
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (truth && truth->isZero())
    return success();
  Element value = emitter.evaluate(store.getValue(), map, level);
  ChunkAccess access = value ? emitter.accessOf(store.getPtr(), emitter.chunkMap(), nullptr) : ChunkAccess();
  if (!access.address)
    return failure();
  Type element = tt::elementOf(store.getValue().getType());
  emitter.insertAt(level);
  if (emitter.chunkLanes > 1) {
    emitter.prefetchNext(store, access, element);
    emitter.write(access, element, emitter.asVector(value), truth ? nullptr : emitter.asVector(mask));
    return success();
  }
  emitter.emitWhere(mask.value, [&] {
    llvm::Value *bits = element.isInteger(1) ? ir.CreateZExt(value.value, ir.getInt8Ty()) : value.value;
    ir.CreateStore(bits, access.address);
  });
  return success();
}

static void printStore(llvm::raw_ostream &out, Operation *op, AccessText access) {
  auto store = cast<tt::StoreOp>(op);
  out << "store " << access(store.getPtr()) << (store.getMask() ? " masked" : "");
}

namespace nereid::cpu {
extern const RootTraits storeRoot = {
    .matches = isOp<tt::StoreOp>, .isWrite = true, .print = printStore, .emitter = makeEmitter<StoreEmitter>};
} // namespace nereid::cpu
