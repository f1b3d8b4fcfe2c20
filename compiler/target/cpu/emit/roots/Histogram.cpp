// Emits histograms: the bins are cleared before the loops, then counted one element after the other.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class HistogramEmitter : public RootEmitter {
public:
  using RootEmitter::RootEmitter;
  void prepare() override;
  LogicalResult emit(unsigned level) override;

private:
  void count(llvm::Value *index);
};
} // namespace

void HistogramEmitter::prepare() {
  auto result = cast<RankedTensorType>(root.op->getResult(0).getType());
  llvm::Value *bytes = ir.getInt64(result.getNumElements() * storageBytes(result.getElementType()));
  ir.CreateMemSet(function.buffer(root.buffers.front()), ir.getInt8(0), bytes, llvm::Align(64));
}

void HistogramEmitter::count(llvm::Value *index) {
  llvm::Value *address = ir.CreateGEP(ir.getInt32Ty(), function.buffer(root.buffers.front()), index);
  ir.CreateStore(ir.CreateAdd(ir.CreateLoad(ir.getInt32Ty(), address), ir.getInt32(1)), address);
}

LogicalResult HistogramEmitter::emit(unsigned level) {
  auto histogram = cast<tt::HistogramOp>(root.op);
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (histogram.getMask())
    mask = emitter.evaluate(histogram.getMask(), map, level);
  if (auto *truth = dyn_cast_or_null<llvm::ConstantInt>(mask.value); truth && truth->isZero())
    return success();
  Element bin = mask ? emitter.evaluate(histogram.getSrc(), map, level) : Element();
  if (!bin)
    return failure();
  emitter.insertAt(level);
  llvm::Value *index = emitter.asVector(bin);
  llvm::Type *wide = ir.getInt64Ty();
  if (nest.lanes > 1)
    wide = llvm::FixedVectorType::get(wide, nest.lanes);
  index = ir.CreateSExt(index, wide);
  llvm::Value *isCounted = ir.CreateICmpULT(index, llvm::ConstantInt::get(wide, tt::shapeOf(histogram.getType())[0]));
  isCounted = ir.CreateAnd(isCounted, emitter.asVector(mask));
  if (nest.lanes > 1) {
    llvm::AllocaInst *lanes = function.local(wide);
    ir.CreateStore(index, lanes);
    emitter.forEachLane(isCounted, [&](llvm::Value *lane) {
      count(ir.CreateLoad(ir.getInt64Ty(), ir.CreateGEP(ir.getInt64Ty(), lanes, lane)));
    });
    return success();
  }
  emitter.emitWhere(isCounted, [&] { count(index); });
  return success();
}

namespace nereid::cpu {
extern const RootTraits histogramRoot = {.matches = isOp<tt::HistogramOp>,
                                         .purpose = "histogram",
                                         .isAlone = true,
                                         .isLaneByLane = [](Operation *, int) { return true; },
                                         .emitter = makeEmitter<HistogramEmitter>};
} // namespace nereid::cpu
