// Elements whose index depends on the loop index or on other elements: gather, join.
// SPDX-License-Identifier: MIT
//
// A gather reads its source's buffer. Where the index is the position in a chunk xor a constant (as in sorting networks
// and `flip`), the chunk's elements are one register, permuted; where it is equal for all lanes, they are a row; else
// each lane has its own address.
#include "compiler/target/cpu/emit/NestEmitter.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

std::optional<Element> NestEmitter::movedElement(Operation *op, const IndexMap &map, unsigned level) {
  if (isa<tt::GatherOp>(op))
    return gatherElement(op, map, level);
  if (isa<tt::JoinOp>(op))
    return joinElement(op, map, level);
  return std::nullopt;
}

Element NestEmitter::joinElement(Operation *op, const IndexMap &map, unsigned level) {
  auto join = cast<tt::JoinOp>(op);
  const int8_t last = map.back();
  if (last < 0) {
    const unsigned side = indexOfFixed(last);
    return evaluate(join->getOperand(side), *operandMap(join.getResult(), side, map), level);
  }
  Element left = evaluate(join.getLhs(), *operandMap(join.getResult(), 0, map), level);
  Element right = evaluate(join.getRhs(), *operandMap(join.getResult(), 1, map), level);
  if (!left || !right)
    return {};
  insertAt(level);
  if (last == nest.vectorDim && chunkLanes > 1 && !inactiveScalar) { // a chunk of two lanes
    llvm::Value *isLeft = llvm::ConstantVector::get({ir.getTrue(), ir.getFalse()});
    return {ir.CreateSelect(isLeft, asVector(left), asVector(right)), true};
  }
  const bool isVector = left.isVector || right.isVector;
  llvm::Value *isLeft = ir.CreateICmpEQ(indexOf(last), ir.getInt64(0));
  return {ir.CreateSelect(isLeft, isVector ? asVector(left) : left.value, isVector ? asVector(right) : right.value),
          isVector};
}

//--- gather --------------------------------------------------------------------------------

/// An index within [0, extent): any index reduced to its low bits, where the extent is a power of two.
llvm::Value *NestEmitter::boundedIndex(llvm::Value *index, int64_t extent) {
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
Element NestEmitter::xorElement(ChunkAccess row, Type element, int64_t distance, unsigned level) {
  const int64_t within = distance & (chunkLanes - 1);
  insertAt(level);
  llvm::Value *first = ir.CreateXor(indexOf(nest.vectorDim), ir.getInt64(distance - within));
  row.address = ir.CreatePtrAdd(row.address, ir.CreateMul(first, ir.getInt64(storageBytes(element))));
  row.stride = ir.getInt64(storageBytes(element));
  llvm::Value *chunk = read(row, element, nullptr, nullptr);
  SmallVector<int> order;
  for (unsigned lane = 0; lane < chunkLanes; ++lane)
    order.push_back(lane ^ within);
  return {within ? ir.CreateShuffleVector(chunk, order) : chunk, true};
}

Element NestEmitter::gatherElement(Operation *op, const IndexMap &map, unsigned level) {
  auto gather = cast<tt::GatherOp>(op);
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
  ChunkAccess access = bufferAccess(base, buffer, source, around);
  const bool isVector = isVectorMap(map) && !inactiveScalar;
  if (isVector && map[axis] == nest.vectorDim && stride == storageBytes(element) && llvm::isPowerOf2_64(extent)) {
    auto distance = xorOfIndex(gather.getIndices(), map, nest.vectorDim);
    if (distance && *distance >= 0 && *distance < extent && nest.shape[nest.vectorDim] <= extent)
      return xorElement(access, element, *distance, level);
  }
  Element index = evaluate(gather.getIndices(), map, level);
  if (!index)
    return {};
  insertAt(level);
  llvm::Value *offset = boundedIndex(index.value, extent);
  offset = ir.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), stride));
  if (index.isVector && map[axis] != nest.vectorDim) { // the lanes are adjacent in another dimension too
    SmallVector<llvm::Constant *> numbers;
    for (unsigned lane = 0; lane < chunkLanes; ++lane)
      numbers.push_back(ir.getInt64(lane));
    llvm::Value *apart = ir.CreateVectorSplat(chunkLanes, access.stride);
    offset = ir.CreateAdd(offset, ir.CreateMul(llvm::ConstantVector::get(numbers), apart));
  }
  access.address = ir.CreatePtrAdd(access.address, offset);
  if (index.isVector)
    return {read({access.address, nullptr}, element, nullptr, nullptr), true};
  if (isVector)
    return {read(access, element, nullptr, nullptr), true};
  llvm::Value *scalar = ir.CreateLoad(context.lanes.memoryType(element), access.address);
  return {element.isInteger(1) ? ir.CreateTrunc(scalar, ir.getInt1Ty()) : scalar, false};
}
