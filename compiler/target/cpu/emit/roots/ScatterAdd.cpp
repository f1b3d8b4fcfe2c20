// Emits sums by index, and histograms as sums of ones: cleared before the loops, then added one element after the
// other.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class SumsEmitter : public RootEmitter {
public:
  using RootEmitter::RootEmitter;
  void prepare() override;
  LogicalResult emit(unsigned level) override;

private:
  void add(llvm::Value *index, llvm::Value *value);
};
} // namespace

void SumsEmitter::prepare() {
  auto result = cast<RankedTensorType>(root.op->getResult(0).getType());
  llvm::Value *bytes = ir.getInt64(result.getNumElements() * storageBytes(result.getElementType()));
  ir.CreateMemSet(context.buffers.at(root.buffers.front()), ir.getInt8(0), bytes, llvm::Align(64));
}

void SumsEmitter::add(llvm::Value *index, llvm::Value *value) {
  llvm::Type *type = value->getType();
  llvm::Value *address = ir.CreateGEP(type, context.buffers.at(root.buffers.front()), index);
  llvm::Value *sum = ir.CreateLoad(type, address);
  ir.CreateStore(type->isFloatingPointTy() ? ir.CreateFAdd(sum, value) : ir.CreateAdd(sum, value), address);
}

LogicalResult SumsEmitter::emit(unsigned level) {
  auto scatter = dyn_cast<tt::ScatterAddOp>(root.op);
  Value indices = scatter ? scatter.getIndices() : cast<tt::HistogramOp>(root.op).getSrc();
  Value selected = scatter ? scatter.getMask() : cast<tt::HistogramOp>(root.op).getMask();
  Element mask{ir.getTrue(), false};
  if (selected)
    mask = evaluate(selected, level);
  if (auto *truth = dyn_cast_or_null<llvm::ConstantInt>(mask.value); truth && truth->isZero())
    return success();
  Element position = mask ? evaluate(indices, level) : Element();
  Element added{ir.getInt32(1), false};
  if (position && scatter)
    added = evaluate(scatter.getSrc(), level);
  if (!position || !added)
    return failure();
  levels.insertAt(level);
  llvm::Value *index = context.asVector(position);
  llvm::Type *wide = ir.getInt64Ty();
  if (chunk.lanes > 1)
    wide = llvm::FixedVectorType::get(wide, chunk.lanes);
  index = ir.CreateSExt(index, wide);
  const int64_t extent = tt::shapeOf(root.op->getResult(0).getType())[0];
  llvm::Value *isCounted = ir.CreateICmpULT(index, llvm::ConstantInt::get(wide, extent));
  isCounted = ir.CreateAnd(isCounted, context.asVector(mask));
  if (chunk.lanes > 1) {
    llvm::AllocaInst *lanes = spillLanes(context, index);
    llvm::AllocaInst *values = scatter ? spillLanes(context, context.asVector(added)) : nullptr;
    forEachLane(context, isCounted, [&](llvm::Value *lane) {
      llvm::Value *value = values ? loadLane(ir, values, lane) : added.value;
      add(loadLane(ir, lanes, lane), value);
    });
    return success();
  }
  emitWhere(context, isCounted, [&] { add(index, added.value); });
  return success();
}

namespace nereid::cpu {
extern const RootTraits scatterAddRoot = {.matches = isOp<tt::ScatterAddOp>,
                                          .purpose = "sums",
                                          .isAlone = true,
                                          .isLaneByLane = [](Operation *, int) { return true; },
                                          .emitter = makeEmitter<SumsEmitter>};
extern const RootTraits histogramRoot = {.matches = isOp<tt::HistogramOp>,
                                         .purpose = "histogram",
                                         .isAlone = true,
                                         .isLaneByLane = [](Operation *, int) { return true; },
                                         .emitter = makeEmitter<SumsEmitter>};
} // namespace nereid::cpu
