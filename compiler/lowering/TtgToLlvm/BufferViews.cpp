// Emits views of buffers in shared memory: the address of the first element and, of a part, its offset.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/layout/Distributed.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static uint32_t strideBytes(ttg::MemDescType buffer) {
  return tt::storageBytes(buffer.getElementType(), ttg::strideOf(buffer));
}

static LogicalResult emitLocalDealloc(TtgFunctionEmitter &, ttg::LocalDeallocOp) { return success(); }

/// The same bytes in another order or shape.
static LogicalResult emitSameBytes(TtgFunctionEmitter &emitter, Operation *op) {
  emitter.define(op->getResult(0), Tile(emitter.tile(op->getOperand(0))));
  return success();
}

static LogicalResult emitMemDescIndex(TtgFunctionEmitter &emitter, ttg::MemDescIndexOp op) {
  IrBuilder &ir = emitter.ir;
  const ttg::MemDescType whole = op.getSrc().getType();
  const ArrayRef<int64_t> inFront = whole.getAllocShape().take_back(whole.getShape().size());
  const uint32_t bytes =
      llvm::product_of(inFront.drop_front().drop_back(ttg::laidOutShape(whole).size())) * strideBytes(whole);
  Tile view(emitter.tile(op.getSrc()));
  view.front() = ir.CreatePtrAdd(view.front(), ir.CreateMul(emitter.scalar(op.getIndex()), ir.getInt32(bytes), "",
                                                            /*HasNUW=*/true, /*HasNSW=*/true));
  emitter.define(op, std::move(view));
  return success();
}

/// The distance in bytes of a part's buffer from the first of those that follow one another.
static int64_t bytesInFront(ttg::MemDescSubsliceOp op) {
  const ttg::MemDescType whole = op.getSrc().getType();
  const size_t rank = whole.getShape().size(), inFront = rank - ttg::laidOutShape(whole).size();
  const ArrayRef<int64_t> allocation = whole.getAllocShape().take_back(rank);
  int64_t buffers = 0;
  for (size_t dim = 0; dim < inFront; ++dim)
    buffers = buffers * allocation[dim] + op.getOffsets()[dim];
  return buffers * strideBytes(whole);
}

/// The offset in the allocation of a part's first element relative to that of the source.
static uint32_t offsetOfPart(ttg::MemDescSubsliceOp op) {
  const ttg::MemDescType whole = op.getSrc().getType();
  const ArrayRef<int32_t> offsets = op.getOffsets().take_back(ttg::laidOutShape(whole).size());
  SmallVector<std::string> names;
  for (size_t dim = 0; dim < offsets.size(); ++dim)
    names.push_back(layout::dimName(dim));
  SmallVector<layout::LinearLayout::Named> element;
  for (auto [name, offset] : llvm::zip_equal(names, offsets))
    element.emplace_back(name, offset);
  return ttg::layoutOf(whole).pseudoInvert().apply(element).front();
}

static LogicalResult emitMemDescSubslice(TtgFunctionEmitter &emitter, ttg::MemDescSubsliceOp op) {
  IrBuilder &ir = emitter.ir;
  const ttg::MemDescType part = op.getType();
  const BufferAddress source = emitter.buffer(op.getSrc());
  const unsigned bytes = elementBytesOf(part);
  const layout::Padding padding = ttg::paddingOf(part);
  llvm::Value *offset = ir.getInt32(offsetOfPart(op));
  if (source.part)
    offset = ir.CreateXor(source.part, offset);
  llvm::Value *allocation = allocationAddress(emitter, source, padding, bytes);
  if (const int64_t inFront = bytesInFront(op))
    allocation = ir.CreatePtrAdd(allocation, ir.getInt32(inFront));
  if (!ttg::isPartOfBuffer(part)) {
    emitter.define(op, {allocation});
    return success();
  }
  llvm::Value *inAllocation = withGaps(ir, ir.CreateMul(offset, ir.getInt32(bytes)), padding.scaled(bytes));
  emitter.define(op, {ir.CreatePtrAdd(allocation, inAllocation), offset});
  return success();
}

/// A part has adjacent bytes; its first element need not be the first of them.
static LogicalResult emitMemDescReinterpret(TtgFunctionEmitter &emitter, ttg::MemDescReinterpretOp op) {
  IrBuilder &ir = emitter.ir;
  const BufferAddress source = emitter.buffer(op.getSrc());
  if (!source.part) {
    emitter.define(op, {source.first});
    return success();
  }
  const unsigned bytes = elementBytesOf(op.getSrc().getType());
  const uint32_t adjacent = ttg::adjacentBytes(op.getSrc().getType());
  llvm::Value *inBytes = ir.CreateMul(source.part, ir.getInt32(bytes));
  llvm::Value *toFirst = ir.CreateAnd(inBytes, ir.getInt32(adjacent - 1));
  emitter.define(op, {ir.CreatePtrAdd(source.first, ir.CreateNeg(toFirst))});
  return success();
}

void lowering::addBufferViewEmitters(OpEmitters &table) {
  table.add<emitLocalDealloc, ttg::LocalDeallocOp>();
  table.add<emitMemDescIndex, ttg::MemDescIndexOp>();
  table.add<emitMemDescSubslice, ttg::MemDescSubsliceOp>();
  table.add<emitSameBytes, ttg::MemDescTransOp, ttg::MemDescReshapeOp>();
  table.add<emitMemDescReinterpret, ttg::MemDescReinterpretOp>();
}
