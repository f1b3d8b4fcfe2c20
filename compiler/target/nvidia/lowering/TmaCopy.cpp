// Emits TMA copies between global and shared memory, and their tensor maps.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/layout/MatrixBuffer.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/lowering/Diagnostics.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;

/// Flags in the lowest bits of a tensor map's address: the array has no elements; its rows do not end at a multiple of
/// 16 bytes, so that TMA stores would overwrite the next row.
static constexpr uint64_t kEmpty = 1, kRagged = 2;
/// Offset of the copied parameters after a tensor map: base, extents, strides but the first, 64 bits each, from the
/// fastest dimension on.
static constexpr unsigned kPartsBegin = 128;
/// Log2 of the amount that moves an index before every array.
static constexpr unsigned kBeforeAll = 30;
/// Limit of box coordinates: all beyond it is outside of every array, and the end of a box does not overflow.
static constexpr int32_t kFarthest = 0x7ffffc00;

//--- tensor maps ---------------------------------------------------------------------------

/// The map's memory: CTAs that share the work of a program have their own.
static llvm::Value *mapScratch(TtgFunctionEmitter &emitter, ttng::MakeTensorMapOp op) {
  IrBuilder &ir = emitter.ir;
  llvm::Value *begin = emitter.programScratch(*op.getScratchOffset());
  auto module = op->getParentOfType<ModuleOp>();
  if (!ttng::isSplitOverCluster(module))
    return begin;
  const int64_t all = module->getAttrOfType<IntegerAttr>(ttg::kScratchBytes).getInt();
  const int64_t numCtas = ttg::numCtasOf(module);
  llvm::Value *rank = ir.CreateZExt(instructionsOf(emitter).clusterRank(ir), ir.getInt64Ty());
  return ir.CreatePtrAdd(begin, ir.CreateMul(rank, ir.getInt64(all / numCtas)));
}

static LogicalResult emitMakeTensorMap(TtgFunctionEmitter &emitter, ttng::MakeTensorMapOp op) {
  IrBuilder &ir = emitter.ir;
  TmaEmitter *tma = instructionsOf(emitter).tma();
  if (!tma)
    return tt::report(op.getLoc(), nvidia::diag::NeedsTma, op->getName().stripDialect());
  if (!op.getScratch() || !op.getScratchOffset())
    return tt::report(op.getLoc(), nvidia::diag::TensorMapScratch, op.getScratch() ? "`scratchOffset`" : "`scratch`");
  TensorMap map;
  map.base = emitter.scalar(op.getBase());
  map.element = op.getBase().getType().getPointee();
  map.isUnsigned = op.getIsUnsigned();
  map.padsWithNan = emitter.scalar(op.getPadsWithNan());
  map.roundsToTf32 = emitter.scalar(op.getRoundsToTf32());
  const uint64_t bytes = tt::storageBytes(map.element);
  llvm::Value *isEmpty = ir.getFalse();
  for (Value extent : llvm::reverse(op.getShape())) {
    llvm::Value *size = emitter.scalar(extent);
    isEmpty = ir.CreateOr(isEmpty, ir.CreateICmpSLT(size, ir.getInt64(1)));
    map.extents.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, ir.getInt64(1)));
  }
  for (Value stride : llvm::reverse(op.getStrides().drop_back()))
    map.strides.push_back(ir.CreateMul(emitter.scalar(stride), ir.getInt64(bytes)));
  const ttng::MapShape shape = ttng::mapShapeOf(op.blockType());
  map.swizzleBytes = shape.swizzleBytes;
  map.box.append(shape.box.rbegin(), shape.box.rend());
  llvm::Value *address = mapScratch(emitter, op);
  llvm::Value *scratch = emitter.scalar(op.getScratch());
  const unsigned lanes = emitter.target.threadsPerWarp();
  llvm::Value *lane = ir.CreateAnd(emitter.thread(), ir.getInt32(lanes - 1));
  emitter.runWhere(ir.CreateICmpULT(emitter.thread(), ir.getInt32(lanes)),
                   [&] { tma->makeTensorMap(ir, map, scratch, address, lane); });
  SmallVector<llvm::Value *> parts = {ir.CreatePtrToInt(map.base, ir.getInt64Ty())};
  llvm::append_range(parts, map.extents);
  llvm::append_range(parts, map.strides);
  emitter.runWhere(emitter.isFirstThread(), [&] {
    for (auto [index, part] : llvm::enumerate(parts))
      ir.CreateAlignedStore(part, ir.CreatePtrAdd(address, ir.getInt64(kPartsBegin + 8 * index)), llvm::Align(8),
                            /*isVolatile=*/true);
  });
  llvm::Value *overhang =
      ir.CreateAnd(ir.CreateMul(map.extents[0], ir.getInt64(bytes)), ir.getInt64(layout::kChunkBytes - 1));
  llvm::Value *isRagged = ir.CreateICmpNE(overhang, ir.getInt64(0));
  llvm::Value *flags = ir.CreateOr(ir.CreateSelect(isEmpty, ir.getInt64(kEmpty), ir.getInt64(0)),
                                   ir.CreateSelect(isRagged, ir.getInt64(kRagged), ir.getInt64(0)));
  if (op.getLayout()) { // any warp may use it
    emitter.barrier();
    tma->acquireTensorMap(ir, address);
  }
  emitter.define(op, {op.getLayout() ? address : ir.CreatePtrAdd(address, flags)});
  return success();
}

//--- copies --------------------------------------------------------------------------------

/// The offset of an element from the buffer's start, in elements.
static int64_t offsetOf(const layout::LinearLayout &offsets, ArrayRef<int64_t> coordinates) {
  std::vector<std::string> names;
  for (size_t dim = 0; dim < coordinates.size(); ++dim)
    names.push_back(std::string(layout::dimName(dim)));
  SmallVector<layout::LinearLayout::Named> at;
  for (auto [name, coordinate] : llvm::zip_equal(names, coordinates))
    at.push_back({name, int32_t(coordinate)});
  return offsets.apply(at).front();
}

namespace {
/// Copies a tile box by box, one per panel.
class TmaCopyEmitter {
public:
  TmaCopyEmitter(TtgFunctionEmitter &of, Value map, ValueRange indices, ttg::MemDescType buffer, llvm::Value *shared)
      : ir(of.ir), buffer(buffer), shared(shared) {
    llvm::Value *bits = ir.CreatePtrToInt(of.scalar(map), ir.getInt64Ty());
    llvm::Value *flags = ir.CreateAnd(bits, ir.getInt64(kEmpty | kRagged));
    address = ir.CreatePtrAdd(of.scalar(map), ir.CreateNeg(flags));
    for (Value index : llvm::reverse(indices)) {
      llvm::Value *near = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, of.scalar(index), ir.getInt32(kFarthest));
      begin.push_back(ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, near, ir.getInt32(-kFarthest)));
    }
    isEmpty = ir.CreateICmpNE(ir.CreateAnd(flags, ir.getInt64(kEmpty)), ir.getInt64(0));
    isRagged = ir.CreateICmpNE(ir.CreateAnd(flags, ir.getInt64(kRagged)), ir.getInt64(0));
  }

  /// Moves the box outside of an array without elements, since its tensor map describes one element.
  void moveOutsideIfEmpty() { begin.back() = ir.CreateSelect(isEmpty, ir.getInt32(-(1 << kBeforeAll)), begin.back()); }

  /// Whether TMA stores correctly: it rejects negative indices, and rounds ragged rows up to 16 bytes.
  llvm::Value *canStore() {
    llvm::Value *result = ir.CreateNot(isRagged);
    for (llvm::Value *index : begin)
      result = ir.CreateAnd(result, ir.CreateICmpSGE(index, ir.getInt32(0)));
    return result;
  }

  void storeByThreads(TtgFunctionEmitter &of, ttng::AsyncTmaCopyLocalToGlobalOp op);

  llvm::Value *isEmpty, *isRagged; ///< whether the array has no elements; whether its rows are ragged

  void forEachPanel(llvm::function_ref<void(const BoxCopy &)> emit) {
    const unsigned bits = buffer.getElementType().getIntOrFloatBitWidth();
    const int64_t rows = buffer.getShape()[0], columns = buffer.getShape()[1];
    const layout::MatrixBuffer layout = {ttng::swizzleFor(columns, bits), bits};
    for (int64_t first = 0; first < columns; first += layout.panelElems()) {
      BoxCopy copy = {address, begin, shared, first / layout.panelElems() * rows * layout.panelBytes(),
                      unsigned(rows * layout.panelBytes())};
      if (first)
        copy.begin[0] = ir.CreateAdd(copy.begin[0], ir.getInt32(first));
      emit(copy);
    }
  }

  /// The copies of a block in its buffer's own layout: one for each box.
  void forEachBox(llvm::function_ref<void(const BoxCopy &)> emit) {
    const ArrayRef<int64_t> shape = buffer.getShape();
    const auto box = ttng::mapShapeOf(RankedTensorType::get(shape, buffer.getElementType(), buffer.getEncoding())).box;
    const layout::LinearLayout offsets =
        cast<ttg::NvmmaSharedAttr>(buffer.getEncoding()).toLinearLayout(shape).invert();
    const unsigned rank = shape.size();
    const int64_t bytes = tt::storageBytes(buffer.getElementType());
    SmallVector<int64_t, 5> at(rank, 0);
    while (true) {
      BoxCopy copy = {address, begin, shared, 0, unsigned(llvm::product_of(box) * bytes)};
      for (unsigned dim = 0; dim < rank; ++dim)
        if (at[dim])
          copy.begin[rank - 1 - dim] = ir.CreateAdd(copy.begin[rank - 1 - dim], ir.getInt32(at[dim]));
      copy.sharedOffset = offsetOf(offsets, at) * bytes;
      emit(copy);
      unsigned dim = rank;
      while (dim-- > 0) {
        if ((at[dim] += box[dim]) < shape[dim])
          break;
        at[dim] = 0;
      }
      if (dim == ~0u)
        return;
    }
  }

  /// Whether the buffer has the block's dimensions, rather than rows and columns alone.
  static bool isWhole(ttg::MemDescType buffer, ArrayRef<int64_t> block) { return buffer.getShape() == block; }
  void forEachCopy(ArrayRef<int64_t> block, llvm::function_ref<void(const BoxCopy &)> emit) {
    isWhole(buffer, block) ? forEachBox(emit) : forEachPanel(emit);
  }

private:
  llvm::Value *part(unsigned index) {
    return ir.CreateAlignedLoad(ir.getInt64Ty(), ir.CreatePtrAdd(address, ir.getInt64(kPartsBegin + 8 * index)),
                                llvm::Align(8),
                                /*isVolatile=*/true);
  }
  llvm::Value *sharedElement(llvm::Value *row, llvm::Value *column);
  void storeElement(llvm::Value *where, llvm::Value *value, ttng::AsyncTmaCopyLocalToGlobalOp op);

  IrBuilder &ir;
  ttg::MemDescType buffer;
  llvm::Value *shared, *address;
  SmallVector<llvm::Value *, 5> begin;
};

//--- stores by threads ---------------------------------------------------------------------

/// The address of an element in the buffer.
llvm::Value *TmaCopyEmitter::sharedElement(llvm::Value *row, llvm::Value *column) {
  const unsigned bits = buffer.getElementType().getIntOrFloatBitWidth();
  const layout::MatrixBuffer layout = {ttng::swizzleFor(buffer.getShape()[1], bits), bits};
  auto number = [&](uint64_t value) { return ir.getInt32(value); };
  llvm::Value *panel = ir.CreateUDiv(column, number(layout.panelElems()));
  llvm::Value *inRow = ir.CreateMul(ir.CreateURem(column, number(layout.panelElems())),
                                    number(tt::storageBytes(buffer.getElementType())));
  const uint64_t panelBytes = buffer.getShape()[0] * layout.panelBytes();
  llvm::Value *offset = ir.CreateAdd(ir.CreateMul(row, number(layout.panelBytes())), inRow);
  offset = ir.CreateAdd(offset, ir.CreateMul(panel, number(panelBytes)));
  const unsigned mask = layout.swizzleBytes ? layout.swizzleBytes / layout::kChunkBytes - 1 : 0;
  llvm::Value *swizzle = ir.CreateShl(ir.CreateAnd(ir.CreateLShr(offset, number(7)), number(mask)), number(4));
  return ir.CreatePtrAdd(shared, ir.CreateXor(offset, swizzle));
}

static llvm::AtomicRMWInst::BinOp combination(tt::DescriptorReduceKind kind, bool isFloat, bool isUnsigned) {
  using Op = llvm::AtomicRMWInst;
  switch (kind) {
  case tt::DescriptorReduceKind::ADD:
    return isFloat ? Op::FAdd : Op::Add;
  case tt::DescriptorReduceKind::MIN:
    return isUnsigned ? Op::UMin : Op::Min;
  case tt::DescriptorReduceKind::MAX:
    return isUnsigned ? Op::UMax : Op::Max;
  case tt::DescriptorReduceKind::AND:
    return Op::And;
  case tt::DescriptorReduceKind::OR:
    return Op::Or;
  case tt::DescriptorReduceKind::XOR:
    return Op::Xor;
  case tt::DescriptorReduceKind::INC:
  case tt::DescriptorReduceKind::DEC:
    break;
  }
  llvm_unreachable("descriptors do not combine so");
}

void TmaCopyEmitter::storeElement(llvm::Value *where, llvm::Value *value, ttng::AsyncTmaCopyLocalToGlobalOp op) {
  const llvm::Align align(tt::storageBytes(buffer.getElementType()));
  if (!op.getKind()) {
    ir.CreateAlignedStore(value, where, align);
    return;
  }
  const auto how = combination(*op.getKind(), value->getType()->isFloatingPointTy(), op.getIsUnsigned());
  ir.CreateAtomicRMW(how, where, value, align, llvm::AtomicOrdering::Monotonic);
}

/// Stores element by element, one per thread at a time.
void TmaCopyEmitter::storeByThreads(TtgFunctionEmitter &of, ttng::AsyncTmaCopyLocalToGlobalOp op) {
  const ArrayRef<int64_t> block = op.blockShape();
  const unsigned rank = block.size();
  const int64_t columns = buffer.getShape()[1], bytes = tt::storageBytes(buffer.getElementType());
  llvm::Type *type = op.getKind() ? of.elements.memoryType(buffer.getElementType()) : ir.getIntNTy(bytes * 8);
  llvm::Value *base = part(0), *first = of.thread();
  SmallVector<llvm::Value *> extents, strides = {ir.getInt64(bytes)};
  for (unsigned dim = 0; dim < rank; ++dim)
    extents.push_back(part(1 + dim));
  for (unsigned dim = 1; dim < rank; ++dim)
    strides.push_back(part(rank + dim));

  llvm::BasicBlock *before = ir.GetInsertBlock(), *head = of.newBlock("elements"), *body = of.newBlock("element"),
                   *after = of.newBlock("elements.end");
  ir.CreateBr(head);
  ir.SetInsertPoint(head);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt32Ty(), 2);
  index->addIncoming(first, before);
  ir.CreateCondBr(ir.CreateICmpULT(index, ir.getInt32(buffer.getShape()[0] * columns)), body, after);
  ir.SetInsertPoint(body);
  llvm::Value *column = ir.CreateURem(index, ir.getInt32(columns)), *row = ir.CreateUDiv(index, ir.getInt32(columns));
  llvm::Value *value = ir.CreateAlignedLoad(type, sharedElement(row, column), llvm::Align(bytes));
  llvm::Value *isInside = ir.getTrue(), *address = base;
  for (unsigned dim = 0; dim < rank; ++dim) {
    llvm::Value *extent = ir.getInt32(dim ? block[rank - 1 - dim] : columns);
    llvm::Value *step = dim ? ir.CreateURem(row, extent) : column;
    row = dim ? ir.CreateUDiv(row, extent) : row;
    llvm::Value *at = ir.CreateAdd(ir.CreateSExt(begin[dim], ir.getInt64Ty()), ir.CreateZExt(step, ir.getInt64Ty()));
    isInside =
        ir.CreateAnd(isInside, ir.CreateAnd(ir.CreateICmpSGE(at, ir.getInt64(0)), ir.CreateICmpSLT(at, extents[dim])));
    address = ir.CreateAdd(address, ir.CreateMul(at, strides[dim]));
  }
  of.runWhere(isInside, [&] { storeElement(ir.CreateIntToPtr(address, this->address->getType()), value, op); });
  index->addIncoming(ir.CreateAdd(index, ir.getInt32(of.numThreads)), ir.GetInsertBlock());
  ir.CreateBr(head);
  ir.SetInsertPoint(after);
}
} // namespace

static void emitStore(TtgFunctionEmitter &emitter, TmaEmitter &tma, ttng::AsyncTmaCopyLocalToGlobalOp store) {
  IrBuilder &ir = emitter.ir;
  TmaCopyEmitter copies(emitter, store.getTensorMap(), store.getIndices(), store.getSrc().getType(),
                        emitter.scalar(store.getSrc()));
  auto emit = [&] {
    copies.forEachCopy(store.blockShape(), [&](const BoxCopy &copy) { tma.store(ir, copy, store.getKind()); });
    tma.commitStores(ir);
  };
  if (!store.getThreadsStoreRest())
    return emitter.runWhere(emitter.isFirstThread(), emit);
  llvm::Value *hasElements = ir.CreateNot(copies.isEmpty), *canStore = copies.canStore();
  emitter.runWhere(ir.CreateAnd({emitter.isFirstThread(), hasElements, canStore}), emit);
  emitter.runWhere(ir.CreateAnd(hasElements, ir.CreateNot(canStore)), [&] { copies.storeByThreads(emitter, store); });
}

static LogicalResult emitTmaCopy(TtgFunctionEmitter &emitter, Operation *op) {
  IrBuilder &ir = emitter.ir;
  TmaEmitter *tma = instructionsOf(emitter).tma();
  if (!tma)
    return tt::report(op->getLoc(), nvidia::diag::NeedsTma, op->getName().stripDialect());
  if (auto load = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op)) {
    emitter.runWhere(ir.CreateAnd(emitter.isFirstThread(), emitter.scalar(load.getPred())), [&] {
      TmaCopyEmitter copies(emitter, load.getTensorMap(), load.getIndices(), load.getResult().getType(),
                            emitter.scalar(load.getResult()));
      copies.moveOutsideIfEmpty();
      copies.forEachCopy(load.blockShape(), [&](const BoxCopy &copy) {
        tma->load(ir, copy, emitter.scalar(load.getBarrier()), load.getEvict());
      });
    });
  } else if (auto store = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op)) {
    emitStore(emitter, *tma, store);
  } else {
    auto wait = cast<ttng::AsyncTmaStoreWaitOp>(op);
    emitter.runWhere(emitter.isFirstThread(), [&] { tma->waitForStores(ir, wait.getPendings(), wait.getReadOnly()); });
    if (wait.getSources().empty())
      emitter.barrier();
  }
  return success();
}

void nvidia::addTmaEmitters(OpEmitters &table) {
  table.add<emitMakeTensorMap, ttng::MakeTensorMapOp>();
  table.add<emitTmaCopy, ttng::AsyncTmaCopyGlobalToLocalOp, ttng::AsyncTmaCopyLocalToGlobalOp,
            ttng::AsyncTmaStoreWaitOp>();
}
