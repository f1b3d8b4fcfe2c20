// Verifies accesses to arrays through tensor maps, relates their layouts and gives the types of TMA buffers.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"

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

/// Boxes lie in the buffer without gaps: a dimension is whole only where all faster ones are.
static SmallVector<int64_t, 5> boxInLayout(ArrayRef<int64_t> block, const layout::MatrixBuffer &buffer) {
  SmallVector<int64_t, 5> box(block.size(), 1);
  const int64_t width = block.size() == 1 ? block.back() : std::min<int64_t>(block.back(), buffer.panelElems());
  box.back() = std::min(width, kMostBoxElems);
  bool isWhole = true; // the matrix of rows and columns, below further dimensions
  for (unsigned dim = block.size() - 1; dim-- > 0 && isWhole;) {
    box[dim] = std::min(block[dim], kMostBoxElems);
    isWhole = box[dim] == block[dim] && box.back() == block.back();
  }
  return box;
}

MapShape ttng::mapShapeOf(RankedTensorType block) {
  const unsigned bits = block.getElementTypeBitWidth();
  if (auto encoding = dyn_cast_or_null<ttg::NvmmaSharedAttr>(block.getEncoding())) {
    const unsigned swizzle = encoding.getSwizzlingByteWidth();
    return {boxInLayout(block.getShape(), {swizzle, bits}), swizzle};
  }
  const unsigned swizzle = swizzleFor(block.getShape().back(), bits);
  SmallVector<int64_t, 5> box(block.getShape());
  box.back() = layout::MatrixBuffer{swizzle, bits}.panelElems();
  return {std::move(box), swizzle};
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

/// PTX ISA, mbarrier: the largest count of pending arrivals.
static constexpr int64_t kMostArrivals = (1 << 20) - 1;

static LogicalResult verifyArrivals(Operation *op, int64_t count) {
  if (count >= 1 && count <= kMostArrivals)
    return success();
  return op->emitOpError() << "counts " << count << " arrivals; a barrier counts from 1 to " << kMostArrivals;
}

static LogicalResult verifyBarriers(Operation *op, ttg::MemDescType barriers) {
  if (barriers.getElementType().isInteger(64))
    return success();
  return op->emitOpError() << "takes " << barriers << " as barriers; they are 64-bit integers (i64)";
}

/// One barrier in each CTA.
static LogicalResult verifyBarrier(Operation *op, ttg::MemDescType barrier) {
  if (failed(verifyBarriers(op, barrier)))
    return failure();
  if (barrier.getShape().size() == 1 && barrier.getShape()[0] <= ttg::numCtasOf(op))
    return success();
  return op->emitOpError() << "takes " << barrier << " as a barrier; it has one element in each CTA, and "
                           << "`memdesc_index` selects one of several";
}

LogicalResult InitBarrierOp::verify() {
  if (getOfThreads() && expectsBytes(getBarriers())) // C1
    return emitOpError("has `ofThreads`, but a `barrier_expect` waits for TMA there");
  if (failed(verifyBarriers(*this, getBarriers().getType()))) // C2
    return failure();
  return verifyArrivals(*this, getCount());
}

LogicalResult BarrierExpectOp::verify() {
  if (static_cast<int32_t>(getSize()) < 0) // C1
    return emitOpError() << "expects " << static_cast<int32_t>(getSize()) << " bytes";
  return verifyBarrier(*this, getBarrier().getType());
}

LogicalResult WaitBarrierOp::verify() { return verifyBarrier(*this, getBarrier().getType()); }             // C1
LogicalResult AsyncCopyMbarrierArriveOp::verify() { return verifyBarrier(*this, getBarrier().getType()); } // C1

LogicalResult ArriveBarrierOp::verify() {
  if (getByWarp() && getCount() != 1) // C1
    return emitOpError() << "arrives " << getCount() << " times by each warp; with `byWarp` it is once";
  if (failed(verifyArrivals(*this, getCount())))
    return failure();
  return verifyBarrier(*this, getBarrier().getType());
}

bool ArriveBarrierOp::followsOtherThreads() { return !getByWarp(); }

//--- tensor maps ---------------------------------------------------------------------------

RankedTensorType MakeTensorMapOp::blockType() {
  Type element = getBase().getType().getPointee();
  if (getIsUnsigned())
    element = IntegerType::get(getContext(), element.getIntOrFloatBitWidth(), IntegerType::Unsigned);
  return RankedTensorType::get(getBlock(), element, getLayoutAttr());
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
  if (rank > 5 || rank < (getLayout() ? 1 : 2)) // C2
    return emitOpError() << "has blocks of " << rank << " dimensions; they have 2 to 5";
  for (int64_t extent : getBlock().drop_back())
    if (extent > kMostBoxElems && !getLayout())
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

//--- copies --------------------------------------------------------------------------------

static ArrayRef<int64_t> blockOf(Value map, std::optional<ArrayRef<int64_t>> block) {
  if (auto descriptor = dyn_cast<tt::TensorDescType>(map.getType()))
    return descriptor.getBlockType().getShape();
  return block.value_or(ArrayRef<int64_t>());
}

ArrayRef<int64_t> AsyncTmaCopyGlobalToLocalOp::blockShape() { return blockOf(getTensorMap(), getBlock()); }
ArrayRef<int64_t> AsyncTmaCopyLocalToGlobalOp::blockShape() { return blockOf(getTensorMap(), getBlock()); }
ArrayRef<int64_t> AsyncTmaReduceOp::blockShape() { return getTensorMap().getType().getBlockType().getShape(); }

/// C1 for a descriptor: the buffer is a block in the descriptor's layout.
static LogicalResult verifyBlock(Operation *op, tt::TensorDescType descriptor, ttg::MemDescType buffer) {
  const RankedTensorType block = descriptor.getBlockType();
  auto layout = dyn_cast_or_null<ttg::NvmmaSharedAttr>(block.getEncoding());
  if (!layout || layout.getTransposed())
    return op->emitOpError() << "copies through " << descriptor << "; its layout is no untransposed #ttg.nvmma_shared";
  if (buffer.getShape() != block.getShape() || buffer.getElementType() != descriptor.getTileType().getElementType())
    return op->emitOpError() << "copies blocks of " << descriptor << ", but the buffer is " << buffer;
  if (buffer.getEncoding() != layout)
    return op->emitOpError() << "copies blocks in the layout " << layout << ", but the buffer has "
                             << buffer.getEncoding() << "; the layouts of descriptor and buffer are the same";
  return success();
}

/// The layout that a tensor map was made with; null where there is none.
static Attribute layoutOfMap(Value map) {
  if (auto make = map.getDefiningOp<MakeTensorMapOp>())
    return make.getLayoutAttr();
  auto argument = dyn_cast<BlockArgument>(map);
  auto kernel = argument ? dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
  auto block = kernel ? kernel.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kTensorMap) : TypeAttr();
  return block ? cast<RankedTensorType>(block.getValue()).getEncoding() : Attribute();
}

static LogicalResult verifyCopy(Operation *op, Value map, size_t indices, ArrayRef<int64_t> block,
                                ttg::MemDescType buffer) {
  if (indices != block.size()) // C2
    return op->emitOpError() << "has " << indices << " indices for " << block.size() << " dimensions";
  if (auto descriptor = dyn_cast<tt::TensorDescType>(map.getType())) // C1
    return verifyBlock(op, descriptor, buffer);
  auto tile = RankedTensorType::get(buffer.getShape(), buffer.getElementType());
  if (tile.getShape() == block && buffer.getEncoding() == layoutOfMap(map))
    return success();
  if (tile.getRank() == 2 && buffer.getEncoding() == encodingOf(tile))
    return verifyAccess(op, indices, block, tile.getShape());
  return op->emitOpError() << "copies blocks of " << tile << " in the encoding " << buffer.getEncoding();
}

LogicalResult AsyncTmaCopyGlobalToLocalOp::verify() {
  if (failed(verifyBarrier(*this, getBarrier().getType())))
    return failure();
  return verifyCopy(*this, getTensorMap(), getIndices().size(), blockShape(), getResult().getType());
}

LogicalResult AsyncTmaCopyLocalToGlobalOp::verify() {
  return verifyCopy(*this, getTensorMap(), getIndices().size(), blockShape(), getSrc().getType());
}

bool ttng::combinesByTma(tt::DescriptorReduceKind kind, Type element) {
  using Kind = tt::DescriptorReduceKind;
  const unsigned bits = element.getIntOrFloatBitWidth();
  const bool isFloat = isa<FloatType>(element), isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case Kind::ADD:
    return isFloat ? bits == 16 || bits == 32 : bits == 32 || (bits == 64 && isUnsigned);
  case Kind::MIN:
  case Kind::MAX:
  case Kind::AND:
  case Kind::OR:
  case Kind::XOR:
    return !isFloat && bits >= 32;
  case Kind::INC:
  case Kind::DEC:
    return false;
  }
  llvm_unreachable("all kinds are listed");
}

LogicalResult AsyncTmaReduceOp::verify() {
  Type element = getTensorMap().getType().getBlockType().getElementType();
  const bool isHalf = element.isF16() || element.isBF16();
  using Kind = tt::DescriptorReduceKind;
  const bool isExtremeOfHalves = isHalf && (getKind() == Kind::MIN || getKind() == Kind::MAX);
  if (!combinesByTma(getKind(), element) && !isExtremeOfHalves) // C3
    return emitOpError() << "TMA has no `" << tt::stringifyDescriptorReduceKind(getKind()) << "` of " << element;
  return verifyCopy(*this, getTensorMap(), getIndices().size(), blockShape(), getSrc().getType());
}

//--- Layouts -------------------------------------------------------------------------------

ttg::LayoutRelation TileLoadOp::getLayoutRelation() {
  ttg::LayoutRelation relation(*this, getType());
  relation.choice = ttg::LayoutRelation::Choice::Copy;
  relation.results.front().kind = ttg::LayoutLink::Kind::FromOp;
  return relation;
}
