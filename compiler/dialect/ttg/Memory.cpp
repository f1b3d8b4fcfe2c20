// Verifies buffers in shared memory and the ops on them; relates the layouts of loads and stores.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/AccessRelation.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Shape and element type agree, and the tile has an encoding.
static LogicalResult verifySameTile(Operation *op, RankedTensorType tile, MemDescType buffer) {
  if (tile.getShape() != buffer.getShape() || tile.getElementType() != buffer.getElementType())
    return op->emitOpError("tile ") << tile << " differs from buffer " << buffer;
  if (!encodingOf(tile))
    return op->emitOpError("tile ") << tile << " has no encoding";
  return success();
}

LogicalResult LocalAllocOp::verify() {
  MemDescType buffer = getType();
  if (!getSrc() && !buffer.getMutableMemory()) // C1
    return emitOpError("a buffer that is given no tile must be mutable");
  if (buffer.getAllocShape() != buffer.getShape()) // C3
    return emitOpError("a view cannot be allocated");
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

void MemDescIndexOp::build(OpBuilder &builder, OperationState &state, Value src, Value index) {
  auto whole = cast<MemDescType>(src.getType());
  build(builder, state,
        MemDescType::get(whole.getShape().drop_front(), whole.getElementType(), whole.getEncoding(),
                         whole.getMemorySpace(), whole.getMutableMemory()),
        src, index);
}

LogicalResult MemDescIndexOp::verify() { // C1
  MemDescType whole = getSrc().getType(), part = getType();
  if (whole.getShape().empty() || whole.getShape().drop_front() != part.getShape() ||
      whole.getElementType() != part.getElementType() || whole.getEncoding() != part.getEncoding() ||
      (part.getMutableMemory() && !whole.getMutableMemory()))
    return emitOpError("result ") << part << " is not one of the buffers of " << whole;
  return success();
}

LogicalResult MemDescSubsliceOp::verify() {
  const MemDescType whole = getSrc().getType(), part = getType();
  if (whole.getElementType() != part.getElementType() || whole.getEncoding() != part.getEncoding() || // C1
      whole.getAllocShape() != part.getAllocShape() || (part.getMutableMemory() && !whole.getMutableMemory()))
    return emitOpError("result ") << part << " is not a part of " << whole;
  const size_t rank = whole.getShape().size();
  if (part.getShape().size() != rank || getOffsets().size() != rank) // C2
    return emitOpError("has ") << getOffsets().size() << " offsets, the buffers " << rank << " and "
                               << part.getShape().size() << " dimensions";
  for (auto [offset, extent, end] : llvm::zip_equal(getOffsets(), part.getShape(), whole.getShape()))
    if (offset < 0 || offset % extent != 0 || offset + extent > end)
      return emitOpError("offset ") << offset << " of an extent of " << extent << " is not a multiple of it within "
                                    << end;
  return success();
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

//--- views ---------------------------------------------------------------------------------

LogicalResult MemDescTransOp::verify() {
  const MemDescType from = getSrc().getType(), to = getType();
  const ArrayRef<int32_t> order = getOrder();
  const SmallVector<unsigned> dims(order.begin(), order.end());
  if (order.size() != from.getShape().size()) // C1
    return emitOpError("order has ") << order.size() << " dimensions, the buffer " << from.getShape().size();
  if (failed(verifyOrder([&] { return emitOpError(); }, dims)))
    return failure();
  const SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int32_t dim) { return from.getShape()[dim]; });
  if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType()) // C2
    return emitOpError("result ") << to << " is not the transpose of " << from;
  auto isAt = [&](MemDescType type) {
    return cast<LayoutEncoding>(type.getEncoding()).toLinearLayout(type.getShape());
  };
  const layout::LinearLayout source = isAt(from), result = isAt(to);
  for (unsigned bit = 0; bit < source.inBits(layout::kOffset); ++bit)
    for (auto [dim, of] : llvm::enumerate(order))
      if (result.basis(layout::kOffset, bit)[dim] != source.basis(layout::kOffset, bit)[of])
        return emitOpError("the encoding of the result puts elements elsewhere: ") << to;
  return success();
}

LocalAllocOp ttg::allocationOf(Value buffer) {
  while (Operation *op = buffer.getDefiningOp()) {
    if (!op->hasTrait<MemDescView>())
      return dyn_cast<LocalAllocOp>(op);
    buffer = op->getOperand(0);
  }
  return {};
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
