// Verifies the ops on block pointers.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Rules.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace nereid::tt;

Type nereid::tt::elementPointer(Type type) {
  auto pointer = dyn_cast<PointerType>(type);
  auto tile = pointer ? dyn_cast<RankedTensorType>(pointer.getPointee()) : RankedTensorType();
  return tile ? PointerType::get(tile.getElementType(), pointer.getAddressSpace()) : type;
}

/// The rank of the tile that `type` points to; none for a pointer to a scalar.
static std::optional<size_t> pointeeRank(Type type) {
  auto tile = dyn_cast<RankedTensorType>(cast<PointerType>(type).getPointee());
  return tile ? std::optional<size_t>(tile.getRank()) : std::nullopt;
}

LogicalResult MakeTensorPtrOp::verify() {
  const std::optional<size_t> rank = pointeeRank(getType());
  if (!rank) // C1
    return emitOpError("result ") << getType() << " does not point to a tile";
  const size_t counts[] = {getShape().size(), getStrides().size(), getOffsets().size(), getOrder().size()};
  if (llvm::any_of(counts, [&](size_t count) { return count != *rank; })) // C2
    return emitOpError("has ") << counts[0] << " extents, " << counts[1] << " strides, " << counts[2] << " offsets and "
                               << counts[3] << " entries of `order` for a tile of " << *rank << " dimensions";
  if (!isPermutationVector(llvm::to_vector_of<int64_t>(getOrder())))
    return emitOpError("`order` is not a permutation of ") << *rank << " dimensions";
  return success();
}

LogicalResult AdvanceOp::verify() {
  const std::optional<size_t> rank = pointeeRank(getType()); // C1
  if (!rank)
    return emitOpError("result ") << getType() << " does not point to a tile";
  return checkOffsetCount(*rank, getOffsets().size(), OpReporter(*this));
}
