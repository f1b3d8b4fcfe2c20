// Rules of buffers in shared memory and the ops on them.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
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
      whole.getMutableMemory() != part.getMutableMemory())
    return emitOpError("result ") << part << " is not one of the buffers of " << whole;
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
