// Blocks of arrays that a target's copy engine brings to shared memory and takes from there, their maps and barriers.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/layout/MatrixBuffer.h"
#include "compiler/lowering/TensorCopies.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// A map's lowest bit: the array has no elements.
static constexpr uint64_t kEmpty = 1;
/// What an index is moved by to lie before every array.
static constexpr unsigned kBeforeAll = 30;
/// Boxes begin no further out: what lies there is outside of every array, and its end is a number, too.
static constexpr int32_t kFarthest = 0x7ffffc00;

llvm::Value *FunctionEmitter::isFirstThread() { return threadHasNone(~0u, ~0u); }

/// What the program has of global memory, from `place` on.
llvm::Value *FunctionEmitter::programScratch(uint32_t place) {
  auto number = [&](unsigned axis) { return ir.CreateZExt(target.programId(ir, axis), ir.getInt64Ty()); };
  auto count = [&](unsigned axis) { return ir.CreateZExt(target.numPrograms(ir, axis), ir.getInt64Ty()); };
  llvm::Value *program = ir.CreateAdd(number(1), ir.CreateMul(count(1), number(2)));
  program = ir.CreateAdd(number(0), ir.CreateMul(count(0), program));
  auto bytes = source->getParentOfType<ModuleOp>()->getAttrOfType<IntegerAttr>(ttg::kScratchBytes);
  llvm::Value *begin = function.getArg(function.arg_size() - 2);
  llvm::Value *offset = ir.CreateMul(program, ir.getInt64(bytes.getInt()));
  return ir.CreatePtrAdd(begin, ir.CreateAdd(offset, ir.getInt64(place)));
}

//--- maps ----------------------------------------------------------------------------------

LogicalResult FunctionEmitter::emitMakeTensorMap(ttng::MakeTensorMapOp op) {
  TensorCopies *engine = target.tensorCopies();
  if (!engine || !op.getScratch() || !op.getPlace())
    return op.emitError() << "a map of an array is not supported on this target";
  TensorMap map;
  map.base = scalar(op.getBase());
  map.element = op.getBase().getType().getPointee();
  map.isUnsigned = op.getIsUnsigned();
  map.padsWithNan = scalar(op.getPadsWithNan());
  map.roundsToTf32 = scalar(op.getRoundsToTf32());
  const uint64_t bytes = analysis::memoryBits(map.element) / 8;
  llvm::Value *isEmpty = ir.getFalse();
  for (Value extent : llvm::reverse(op.getShape())) {
    llvm::Value *given = scalar(extent);
    isEmpty = ir.CreateOr(isEmpty, ir.CreateICmpSLT(given, ir.getInt64(1)));
    map.extents.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, given, ir.getInt64(1)));
  }
  for (Value stride : llvm::reverse(op.getStrides().drop_back()))
    map.strides.push_back(ir.CreateMul(scalar(stride), ir.getInt64(bytes)));
  map.swizzleBytes = ttng::swizzleFor(op.getBlock().back() * bytes);
  for (int64_t extent : llvm::reverse(op.getBlock()))
    map.box.push_back(extent);
  map.box[0] = layout::MatrixBuffer{map.swizzleBytes, unsigned(bytes * 8)}.panelElems();
  llvm::Value *place = programScratch(*op.getPlace());
  llvm::Value *scratch = scalar(op.getScratch());
  const unsigned lanes = target.threadsPerWarp();
  llvm::Value *lane = ir.CreateAnd(thread(), ir.getInt32(lanes - 1));
  runWhere(ir.CreateICmpULT(thread(), ir.getInt32(lanes)), [&] { engine->makeMap(ir, map, scratch, place, lane); });
  define(op, {ir.CreatePtrAdd(place, ir.CreateZExt(isEmpty, ir.getInt64Ty()))});
  return success();
}

//--- barriers ------------------------------------------------------------------------------

LogicalResult FunctionEmitter::emitBarriers(Operation *op) {
  TensorCopies *engine = target.tensorCopies();
  if (!engine)
    return op->emitError() << "barriers of copies are not supported on this target";
  llvm::Value *barrier = scalar(op->getOperand(0));
  const unsigned count = llvm::product_of(cast<ttg::MemDescType>(op->getOperand(0).getType()).getShape());
  if (auto init = dyn_cast<ttng::InitBarrierOp>(op)) {
    runWhere(isFirstThread(), [&] {
      for (unsigned index = 0; index < count; ++index)
        engine->initBarrier(ir, barrier, 8 * index, init.getCount());
    });
    engine->fence(ir);
  } else if (isa<ttng::InvalBarrierOp>(op)) {
    runWhere(isFirstThread(), [&] {
      for (unsigned index = 0; index < count; ++index)
        engine->invalidateBarrier(ir, barrier, 8 * index);
    });
  } else if (auto expect = dyn_cast<ttng::BarrierExpectOp>(op)) {
    runWhere(ir.CreateAnd(isFirstThread(), scalar(expect.getPred())),
             [&] { engine->expect(ir, barrier, expect.getSize()); });
  } else {
    engine->waitForBarrier(ir, barrier, scalar(cast<ttng::WaitBarrierOp>(op).getPhase()));
  }
  return success();
}

//--- copies --------------------------------------------------------------------------------

namespace nereid::lowering {
/// The boxes of a block, panel by panel.
class TensorCopyEmitter {
public:
  TensorCopyEmitter(FunctionEmitter &of, Value map, ValueRange indices, ttg::MemDescType buffer, llvm::Value *shared)
      : ir(of.ir), buffer(buffer), shared(shared) {
    llvm::Value *bits = ir.CreatePtrToInt(of.scalar(map), ir.getInt64Ty());
    llvm::Value *empty = ir.CreateAnd(bits, ir.getInt64(kEmpty));
    address = ir.CreatePtrAdd(of.scalar(map), ir.CreateNeg(empty));
    for (Value index : llvm::reverse(indices)) {
      llvm::Value *near = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, of.scalar(index), ir.getInt32(kFarthest));
      begin.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, near, ir.getInt32(-kFarthest)));
    }
    isEmpty = ir.CreateICmpNE(empty, ir.getInt64(0));
  }

  /// What is read of an array without elements lies outside of the one that its map describes.
  void leaveEmpty() { begin.back() = ir.CreateSelect(isEmpty, ir.getInt32(-(1 << kBeforeAll)), begin.back()); }

  llvm::Value *isEmpty; ///< the array

  void forEachPanel(llvm::function_ref<void(const BoxCopy &)> emit) {
    const unsigned bits = buffer.getElementType().getIntOrFloatBitWidth();
    const int64_t rows = buffer.getShape()[0], columns = buffer.getShape()[1];
    const layout::MatrixBuffer layout = {ttng::swizzleFor(columns * bits / 8), bits};
    for (int64_t first = 0; first < columns; first += layout.panelElems()) {
      BoxCopy copy = {address, begin, shared, first / layout.panelElems() * rows * layout.panelBytes(),
                      unsigned(rows * layout.panelBytes())};
      if (first)
        copy.begin[0] = ir.CreateAdd(copy.begin[0], ir.getInt32(first));
      emit(copy);
    }
  }

private:
  IrBuilder &ir;
  ttg::MemDescType buffer;
  llvm::Value *shared, *address;
  SmallVector<llvm::Value *, 5> begin;
};
} // namespace nereid::lowering

LogicalResult FunctionEmitter::emitTensorCopy(Operation *op) {
  TensorCopies *engine = target.tensorCopies();
  if (!engine)
    return op->emitError() << "copies of blocks are not supported on this target";
  if (auto load = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op)) {
    runWhere(ir.CreateAnd(isFirstThread(), scalar(load.getPred())), [&] {
      TensorCopyEmitter copies(*this, load.getMap(), load.getIndices(), load.getResult().getType(), scalar(load.getResult()));
      copies.leaveEmpty();
      copies.forEachPanel([&](const BoxCopy &copy) { engine->load(ir, copy, scalar(load.getBarrier()), load.getEvict()); });
    });
  } else if (auto store = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op)) {
    TensorCopyEmitter copies(*this, store.getMap(), store.getIndices(), store.getSrc().getType(), scalar(store.getSrc()));
    runWhere(ir.CreateAnd(isFirstThread(), ir.CreateNot(copies.isEmpty)), [&] {
      copies.forEachPanel([&](const BoxCopy &copy) { engine->store(ir, copy, store.getKind()); });
      engine->commitStores(ir);
    });
  } else {
    auto wait = cast<ttng::AsyncTmaStoreWaitOp>(op);
    runWhere(isFirstThread(), [&] { engine->waitForStores(ir, wait.getPendings(), wait.getReadOnly()); });
  }
  return success();
}
