// Emits the elements of gathers.
// SPDX-License-Identifier: MIT
//
// A gather reads its source's buffer. Where the index is the position in a chunk xor a constant (as in sorting networks
// and `flip`), the chunk's elements are one register, permuted; where it is equal for all lanes, they are a row; else
// each lane has its own address.
#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/emit/nest/AddressEmitter.h"
#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/emit/nest/MemoryEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// An index within [0, extent): any index reduced to its low bits, where the extent is a power of two.
static llvm::Value *boundedIndex(llvm::IRBuilder<> &ir, llvm::Value *index, int64_t extent) {
  llvm::Type *type = index->getType();
  llvm::Type *wide = ir.getInt64Ty();
  if (auto *vector = dyn_cast<llvm::FixedVectorType>(type))
    wide = llvm::FixedVectorType::get(wide, vector->getNumElements());
  index = ir.CreateSExt(index, wide);
  if (llvm::isPowerOf2_64(extent))
    return ir.CreateAnd(index, llvm::ConstantInt::get(wide, extent - 1));
  llvm::Value *isInside = ir.CreateICmpULT(index, llvm::ConstantInt::get(wide, extent));
  return ir.CreateSelect(isInside, index, llvm::Constant::getNullValue(wide));
}

/// The chunk's elements at their positions xor `distance`: one vector, permuted.
static Element emitXor(NestContext &context, ChunkAccess row, Type element, int64_t distance, unsigned level) {
  llvm::IRBuilder<> &ir = context.ir;
  const unsigned lanes = context.chunk.lanes;
  const int64_t within = distance & (lanes - 1);
  context.levels.insertAt(level);
  llvm::Value *first = ir.CreateXor(context.levels.indexOf(context.nest.vectorDim), ir.getInt64(distance - within));
  row.address = ir.CreatePtrAdd(row.address, ir.CreateMul(first, ir.getInt64(storageBytes(element))));
  row.stride = ir.getInt64(storageBytes(element));
  llvm::Value *chunk = context.memory.read(row, element, nullptr, nullptr);
  SmallVector<int> order;
  for (unsigned lane = 0; lane < lanes; ++lane)
    order.push_back(lane ^ within);
  return {within ? ir.CreateShuffleVector(chunk, order) : chunk, true};
}

static Element emitGather(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  llvm::IRBuilder<> &ir = context.ir;
  const int vectorDim = context.nest.vectorDim;
  auto gather = cast<tt::GatherOp>(result.getOwner());
  Type source = gather.getSrc().getType(), element = tt::elementOf(source);
  if (DenseElementsAttr constant = context.buffers.initialOf(gather.getSrc()))
    return {context.lanes.constant(constant.getSplatValue<Attribute>(), element, 1), false};
  const unsigned axis = gather.getAxis();
  const int64_t extent = tt::shapeOf(source)[axis];
  uint64_t stride = storageBytes(element);
  for (int64_t inner : tt::shapeOf(source).drop_front(axis + 1))
    stride *= inner;
  IndexMap around = map; // the source's index except along the axis
  around[axis] = fixedIndex(0);
  for (auto [dim, size] : llvm::enumerate(tt::shapeOf(source)))
    if (size == 1)
      around[dim] = fixedIndex(0);
  const BufferId buffer = context.plan.wholeOperands.lookup(gather);
  auto own = context.plan.bufferOf.find(gather.getSrc());
  const bool isOwn = own != context.plan.bufferOf.end() && own->second == buffer;
  llvm::Value *base = isOwn ? context.buffers.of(gather.getSrc()) : context.buffers.at(buffer);
  ChunkAccess access = context.addresses.ofBuffer(base, buffer, source, around);
  const bool isVector = context.isVector(map);
  if (isVector && map[axis] == vectorDim && stride == storageBytes(element) && llvm::isPowerOf2_64(extent)) {
    auto distance = xorOfIndex(gather.getIndices(), map, vectorDim);
    if (distance && *distance >= 0 && *distance < extent && context.nest.shape[vectorDim] <= extent)
      return emitXor(context, access, element, *distance, level);
  }
  Element index = context.elements.evaluate(gather.getIndices(), map, level);
  if (!index)
    return {};
  context.levels.insertAt(level);
  llvm::Value *offset = boundedIndex(ir, index.value, extent);
  offset = ir.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), stride));
  if (index.isVector && map[axis] != vectorDim) { // the lanes are adjacent in another dimension too
    llvm::Value *apart = ir.CreateVectorSplat(context.chunk.lanes, access.stride);
    offset = ir.CreateAdd(offset, ir.CreateMul(context.laneNumbers(ir.getInt64Ty()), apart));
  }
  access.address = ir.CreatePtrAdd(access.address, offset);
  if (index.isVector)
    access.stride = nullptr;
  return context.memory.readElement(access, element, index.isVector || isVector);
}

namespace nereid::cpu {
extern const ElementTraits gatherElement = {
    .matches = [](Operation *op) { return isa<tt::GatherOp>(op); }, .isRegular = false, .emit = emitGather};
} // namespace nereid::cpu
