// Verifies buffers in shared memory and the ops on them; relates the layouts of loads and stores.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/AccessRelation.h"
#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Whether threads would access the part of a buffer that another CTA of the cluster holds.
static bool crossesCtas(RankedTensorType tile, MemDescType buffer) {
  if (!encodingOf(tile) || isPartOfBuffer(buffer))
    return false;
  const layout::LinearLayout inBuffer = layoutOf(buffer), &held = linearLayoutOf(tile);
  if (inBuffer.inBits(layout::kBlock) == 0)
    return false;
  const layout::LinearLayout accessed = held.invertAndCompose(inBuffer);
  for (StringRef input : accessed.inputNames())
    for (unsigned bit = 0; bit < accessed.inBits(input); ++bit) {
      const int32_t cta = accessed.basis(input, bit, layout::kBlock), own = input == layout::kBlock ? 1 << bit : 0;
      if (cta != 0 && cta != own)
        return true;
    }
  for (unsigned bit = 0; bit < inBuffer.inBits(layout::kBlock); ++bit) {
    const layout::LinearLayout::Coordinates basis = inBuffer.basis(layout::kBlock, bit);
    const bool isSplit = llvm::any_of(basis, [](int32_t step) { return step != 0; });
    if (isSplit &&
        (bit >= accessed.inBits(layout::kBlock) || accessed.basis(layout::kBlock, bit, layout::kBlock) != 1 << bit))
      return true;
  }
  return false;
}

/// Shape and element type agree, and the tile has an encoding; each CTA accesses its own memory.
static LogicalResult verifySameTile(Operation *op, RankedTensorType tile, MemDescType buffer) {
  if (tile.getShape() != buffer.getShape() || tile.getElementType() != buffer.getElementType())
    return op->emitOpError("tile ") << tile << " differs from buffer " << buffer;
  if (!tile.getEncoding()) // that of Gluon's tiles may still have to be found
    return op->emitOpError("tile ") << tile << " has no encoding";
  if (crossesCtas(tile, buffer))
    return op->emitOpError("tile ") << tile << " and buffer " << buffer
                                    << " are split over the cluster in different ways; give them the same CGALayout";
  return success();
}

LogicalResult LocalAllocOp::verify() {
  MemDescType buffer = getType();
  if (!getSrc() && !buffer.getMutableMemory()) // C1
    return emitOpError("a buffer that is given no tile must be mutable");
  if (buffer.getAllocShape() != buffer.getShape()) // C3
    return emitOpError("a view cannot be allocated");
  if (Type element = buffer.getElementType(); element.isIntOrFloat() && element.getIntOrFloatBitWidth() % 8) // C4
    return emitOpError("elements of type ") << element << " take no whole bytes; convert them to i8 first";
  return getSrc() ? verifySameTile(*this, cast<RankedTensorType>(getSrc().getType()), buffer) : success(); // C2
}

LogicalResult LocalLoadOp::verify() {
  return verifySameTile(*this, cast<RankedTensorType>(getType()), getSrc().getType()); // C1
}

LogicalResult LocalStoreOp::verify() {
  if (!getDst().getType().getMutableMemory()) // C2
    return emitOpError("writes to a buffer that is not mutable");
  return verifySameTile(*this, cast<RankedTensorType>(getSrc().getType()), getDst().getType()); // C1
}

//--- asynchronous copies -------------------------------------------------------------------

LogicalResult AsyncCopyGlobalToLocalOp::verify() {
  MemDescType buffer = getDst().getType();
  auto pointers = dyn_cast<RankedTensorType>(getSrc().getType());
  if (!buffer.getMutableMemory()) // C1
    return emitOpError("writes to a buffer that is not mutable");
  if (!pointers)
    return emitOpError("copies from one pointer; a buffer takes a tile");
  return verifySameTile(*this, cast<RankedTensorType>(tt::pointeeLike(pointers)), buffer);
}

//--- lifetimes -----------------------------------------------------------------------------

LocalAllocOp ttg::allocationOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!op->hasTrait<MemDescView>())
      return dyn_cast<LocalAllocOp>(op);
    buffer = op->getOperand(0);
  }
  return {};
}

/// The views of a buffer, itself included.
static SmallVector<Value> viewsOf(Value buffer) {
  SmallVector<Value> views = {buffer};
  for (size_t next = 0; next < views.size(); ++next)
    for (Operation *user : views[next].getUsers())
      if (user->hasTrait<MemDescView>())
        views.push_back(user->getResult(0));
  return views;
}

LogicalResult LocalDeallocOp::verify() { // C1
  LocalAllocOp allocation = allocationOf(getSrc());
  for (Value view : viewsOf(allocation ? allocation.getResult() : getSrc()))
    for (Operation *user : view.getUsers()) {
      Operation *inBlock = (*this)->getBlock()->findAncestorOpInBlock(*user);
      if (!inBlock || !(*this)->isBeforeInBlock(inBlock) || user->hasTrait<MemDescView>())
        continue;
      InFlightDiagnostic error = user->emitError("shared memory is used after it is freed");
      error.attachNote(getLoc()) << "freed here; free it after the last use, or not at all";
      return error;
    }
  return success();
}

//--- layouts of accesses to global memory --------------------------------------------------

LayoutRelation ttg::accessRelation(tt::MemoryAccessOpInterface access) {
  LayoutRelation relation(access, access.getAccessedPointer().getType());
  if (!relation.tile)
    return relation;
  relation.uniteOperands(access);
  for (auto [link, operand] : llvm::zip_equal(relation.operands, access->getOperands()))
    if (operand == access.getStoredValue())
      link.kind = LayoutLink::Kind::ToOp;
  for (LayoutLink &link : relation.results)
    link.kind = LayoutLink::Kind::FromOp;
  return relation;
}

void ttg::addMemoryRules(MLIRContext *context) {
  tt::LoadOp::attachInterface<AccessRelation<tt::LoadOp>>(*context);
  tt::StoreOp::attachInterface<AccessRelation<tt::StoreOp>>(*context);
}
