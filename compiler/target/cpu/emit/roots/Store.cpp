// Emits stores of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

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
  Element mask{ir.getTrue(), false};
  if (store.getMask())
    mask = evaluate(store.getMask(), level);
  if (!mask)
    return failure();
  auto *truth = dyn_cast<llvm::ConstantInt>(mask.value);
  if (truth && truth->isZero())
    return success();
  Element value = evaluate(store.getValue(), level);
  ChunkAccess access =
      value ? context.addresses.of(store.getPtr(), context.addresses.chunkMap(), nullptr) : ChunkAccess();
  if (!access.address)
    return failure();
  Type element = tt::elementOf(store.getValue().getType());
  levels.insertAt(level);
  if (chunk.lanes > 1) {
    context.memory.prefetchNext(store, access, element);
    context.memory.write(access, element, context.asVector(value), truth ? nullptr : context.asVector(mask));
    return success();
  }
  emitWhere(context, mask.value, [&] { context.memory.write(access, element, value.value, nullptr); });
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
