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
