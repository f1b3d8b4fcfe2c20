// Emits sums by index, and histograms as sums of ones: cleared before the loops, then added one element after the
// other. SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/RootEmitter.h"

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
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (selected)
    mask = emitter.evaluate(selected, map, level);
  if (auto *truth = dyn_cast_or_null<llvm::ConstantInt>(mask.value); truth && truth->isZero())
    return success();
  Element position = mask ? emitter.evaluate(indices, map, level) : Element();
  Element added{ir.getInt32(1), false};
  if (position && scatter)
    added = emitter.evaluate(scatter.getSrc(), map, level);
  if (!position || !added)
    return failure();
  emitter.insertAt(level);
  llvm::Value *index = emitter.asVector(position);
  llvm::Type *wide = ir.getInt64Ty();
  if (emitter.chunkLanes > 1)
    wide = llvm::FixedVectorType::get(wide, emitter.chunkLanes);
  index = ir.CreateSExt(index, wide);
  const int64_t extent = tt::shapeOf(root.op->getResult(0).getType())[0];
  llvm::Value *isCounted = ir.CreateICmpULT(index, llvm::ConstantInt::get(wide, extent));
  isCounted = ir.CreateAnd(isCounted, emitter.asVector(mask));
  if (emitter.chunkLanes > 1) {
    llvm::AllocaInst *lanes = context.frame.local(wide);
    ir.CreateStore(index, lanes);
    llvm::AllocaInst *values = nullptr;
    if (scatter) {
      llvm::Value *all = emitter.asVector(added);
      values = context.frame.local(all->getType());
      ir.CreateStore(all, values);
    }
    emitter.forEachLane(isCounted, [&](llvm::Value *lane) {
      llvm::Value *value = added.value;
      if (values) {
        llvm::Type *type = values->getAllocatedType()->getScalarType();
        value = ir.CreateLoad(type, ir.CreateGEP(type, values, lane));
      }
      add(ir.CreateLoad(ir.getInt64Ty(), ir.CreateGEP(ir.getInt64Ty(), lanes, lane)), value);
    });
    return success();
  }
  emitter.emitWhere(isCounted, [&] { add(index, added.value); });
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
