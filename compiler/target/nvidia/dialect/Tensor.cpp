// Verifies accesses to arrays through tensor maps, relates their layouts and gives the types of TMA buffers.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "compiler/layout/MatrixBuffer.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttng;

static ttg::NvmmaSharedAttr encodingOf(RankedTensorType tile) {
  const unsigned bits = tile.getElementTypeBitWidth();
  return ttg::NvmmaSharedAttr::get(tile.getContext(), swizzleFor(tile.getDimSize(1), bits), /*transposed=*/false, bits,
                                   2);
}

SmallVector<int64_t, 5> ttng::boxOf(ArrayRef<int64_t> block, unsigned elementBits) {
  SmallVector<int64_t, 5> box(block);
  box.back() = layout::MatrixBuffer{swizzleFor(block.back(), elementBits), elementBits}.panelElems();
  return box;
}

ttg::MemDescType ttng::tileBuffer(RankedTensorType tile, bool isMutable) {
  return ttg::MemDescType::get(tile.getShape(), tile.getElementType(), encodingOf(tile),
                               ttg::SharedMemoryAttr::get(tile.getContext()), isMutable);
}

ttg::MemDescType ttng::barrierType(MLIRContext *context, unsigned count) {
  SmallVector<int64_t> shape = {1};
  if (count)
    shape.insert(shape.begin(), count);
  const unsigned order[] = {0};
  auto encoding = ttg::SwizzledSharedAttr::get(context, 1, 1, 1, order);
  return ttg::MemDescType::get(shape, IntegerType::get(context, 64), encoding, ttg::SharedMemoryAttr::get(context),
                               /*mutable=*/true);
}

//--- Pipelined loads -----------------------------------------------------------------------

Value TileLoadOp::getMemory() { return getTensorMap(); }

ttg::MemDescType TileLoadOp::bufferType(bool isMutable) {
  return tileBuffer(cast<RankedTensorType>(getResult().getType()), isMutable);
}

Operation *TileLoadOp::createCopy(OpBuilder &builder, Value barrier, Value buffer, Value predicate) {
  return AsyncTmaCopyGlobalToLocalOp::create(builder, getLoc(), getTensorMap(), getIndices(), barrier, buffer,
                                             predicate, getBlockAttr(), getEvictAttr());
}

/// The buffer of a tile, in whole panels.
static ttg::Scratch scratchOf(Type type) {
  auto tile = cast<RankedTensorType>(type);
  return ttg::Scratch::writtenOnce(llvm::alignTo(tt::tileBytes(tile), 1024));
}

ttg::Scratch TileLoadOp::getScratch() { return scratchOf(getResult().getType()); }
ttg::Scratch TileStoreOp::getScratch() { return scratchOf(getSrc().getType()); }

//--- Rules ---------------------------------------------------------------------------------

/// Whether a `barrier_expect` uses the barriers or one of them.
static bool expectsBytes(Value barriers) {
  return llvm::any_of(barriers.getUsers(), [](Operation *user) {
    return isa<BarrierExpectOp>(user) || (isa<ttg::MemDescIndexOp>(user) && expectsBytes(user->getResult(0)));
  });
}

LogicalResult InitBarrierOp::verify() {
  if (getOfThreads() && expectsBytes(getBarriers())) // C1
    return emitOpError("has `ofThreads`, but a `barrier_expect` waits for TMA there");
  return success();
}

void MakeTensorMapOp::getEffects(SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  if (getScratch())
    effects.emplace_back(MemoryEffects::Write::get(), &getScratchMutable()[0], ttg::SharedMemory::get());
}

LogicalResult MakeTensorMapOp::verify() {
  const size_t rank = getBlock().size();
  if (getShape().size() != rank || getStrides().size() != rank) // C1
    return emitOpError() << "has " << getShape().size() << " extents and " << getStrides().size()
                         << " strides for blocks of " << rank << " dimensions";
  if (rank < 2 || rank > 5) // C2
    return emitOpError() << "has blocks of " << rank << " dimensions; they have 2 to 5";
  for (int64_t extent : getBlock().drop_back())
    if (extent > kMostBoxElems)
      return emitOpError() << "has blocks of extent " << extent << "; the largest is " << kMostBoxElems;
  const int64_t bytes = tt::storageBytes(getBase().getType().getPointee(), getBlock().back());
  if (bytes < kTensorMapAlignBytes) // C3
    return emitOpError() << "has blocks with rows of " << bytes << " bytes; they have " << kTensorMapAlignBytes
                         << " at least";
  return success();
}

static LogicalResult verifyAccess(Operation *op, size_t indices, ArrayRef<int64_t> block, ArrayRef<int64_t> tile) {
  if (indices != block.size()) // C1
    return op->emitOpError() << "has " << indices << " indices for " << block.size() << " dimensions";
  const int64_t wanted[] = {llvm::product_of(block.drop_back()), block.back()};
  if (tile == ArrayRef(wanted)) // C2
    return success();
  return op->emitOpError() << "accesses blocks of " << wanted[0] << "x" << wanted[1]
                           << " elements as a tile of another shape";
}

LogicalResult TileLoadOp::verify() {
  return verifyAccess(*this, getIndices().size(), getBlock(), tt::shapeOf(getResult().getType()));
}

LogicalResult TileStoreOp::verify() {
  return verifyAccess(*this, getIndices().size(), getBlock(), tt::shapeOf(getSrc().getType()));
}

static LogicalResult verifyBuffer(Operation *op, size_t indices, ArrayRef<int64_t> block, ttg::MemDescType buffer) {
  auto tile = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  if (tile.getRank() == 2 && buffer.getEncoding() == encodingOf(tile))
    return verifyAccess(op, indices, block, tile.getShape());
  return op->emitOpError() << "copies blocks of " << tile << " in the encoding " << buffer.getEncoding();
}

LogicalResult AsyncTmaCopyGlobalToLocalOp::verify() {
  return verifyBuffer(*this, getIndices().size(), getBlock(), getResult().getType());
}

LogicalResult AsyncTmaCopyLocalToGlobalOp::verify() {
  return verifyBuffer(*this, getIndices().size(), getBlock(), getSrc().getType());
}

//--- Layouts -------------------------------------------------------------------------------

ttg::LayoutRelation TileLoadOp::getLayoutRelation() {
  ttg::LayoutRelation relation(*this, getType());
  relation.choice = ttg::LayoutRelation::Choice::Copy;
  relation.results.front().kind = ttg::LayoutLink::Kind::FromOp;
  return relation;
}
