// Computes the addresses of a chunk's lanes.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/AddressEmitter.h"

#include "compiler/target/cpu/emit/nest/ElementEmitter.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// base + sum(stride * index), each term at the level where its index is known.
llvm::Value *AddressEmitter::addressAt(llvm::Value *base, ArrayRef<llvm::Value *> strides, const IndexMap &map) {
  llvm::Value *address = base;
  for (auto [dim, loop] : llvm::enumerate(map))
    if (loop < 0 && indexOfFixed(loop) != 0) {
      levels.insertAt(0);
      address = ir.CreatePtrAdd(address, ir.CreateMul(strides[dim], ir.getInt64(indexOfFixed(loop))));
    }
  for (unsigned level = 1; level <= levels.of(map); ++level)
    for (auto [dim, loop] : llvm::enumerate(map)) {
      if (loop < 0 || levels.depthOf(loop) != level)
        continue;
      llvm::Value *&sum = known[level][{address, strides[dim]}];
      if (!sum) {
        levels.insertAt(level);
        sum = ir.CreatePtrAdd(address, ir.CreateMul(levels.index(level), strides[dim]));
      }
      address = sum;
    }
  return address;
}

IndexMap AddressEmitter::chunkMap() const {
  IndexMap map = identityMap(nest.shape.size());
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent == 1)
      map[dim] = -1;
  return map;
}

/// What a chunk of a load that is not affine reads: its copy where the tile has one, else what the load addresses.
ChunkAccess AddressEmitter::orCopied(ChunkAccess access, const Redirect &redirect, tt::LoadOp load,
                                     const IndexMap &map) {
  const unsigned level = levels.of(map);
  const Type tile = load.getType();
  ChunkAccess copy = ofBuffer(context.buffers.at(redirect.copy), redirect.copy, tile, map);
  levels.insertAt(level);
  if (access.address->getType()->isVectorTy()) {
    llvm::Value *lanes = ir.CreateStepVector(llvm::FixedVectorType::get(ir.getInt64Ty(), context.chunk.lanes));
    llvm::Value *offsets = ir.CreateMul(lanes, ir.CreateVectorSplat(context.chunk.lanes, copy.stride));
    copy.address = ir.CreatePtrAdd(ir.CreateVectorSplat(context.chunk.lanes, copy.address), offsets);
  }
  access.address = ir.CreateSelect(redirect.isCopied, copy.address, access.address);
  // Elements that are one in memory are equal in the copy, so its first will do unless a mask leaves it out.
  auto *stride = dyn_cast_or_null<llvm::ConstantInt>(access.stride);
  const bool isOne = stride && stride->isZero() && !load.getMask();
  if (access.stride && access.stride != copy.stride && !isOne)
    access.stride = ir.CreateSelect(redirect.isCopied, copy.stride, access.stride);
  return access;
}

ChunkAccess AddressEmitter::of(Value pointer, const IndexMap &map, Operation *load) {
  const Redirect *redirect = load ? context.buffers.redirectOf(load) : nullptr;
  ChunkAccess access = addressedBy(pointer, map, redirect);
  return access.address && redirect && redirect->isCopied ? orCopied(access, *redirect, cast<tt::LoadOp>(load), map)
                                                          : access;
}

/// What pointers that are not affine address: equally spaced elements, or an address for each lane.
ChunkAccess AddressEmitter::ofLanes(Value pointer, const IndexMap &map, unsigned level) {
  if (auto stride = context.elements.chunkStride(pointer, map)) {
    Element first = context.elements.firstLane(pointer, map, level);
    levels.insertAt(level);
    return {first.value, ir.getInt64(*stride)};
  }
  Element element = context.elements.evaluate(pointer, map, level);
  levels.insertAt(level);
  if (!element || !context.isVector(map))
    return {element.value, nullptr};
  return {context.asVector(element), nullptr, unwrappedBytes(pointer, map)};
}

ChunkAccess AddressEmitter::addressedBy(Value pointer, const IndexMap &map, const Redirect *redirect) {
  const unsigned level = levels.of(map);
  const bool isAssumed =
      context.chunk.part == NestPart::Main && level >= levels.vectorLevel() && levels.vectorLevel() > 0;
  const AffineForm *affine = isAssumed ? context.affineInfo.assumed(pointer) : context.affineInfo.affine(pointer);
  auto isChecked = [&](unsigned variable) { return llvm::is_contained(nest.assumptions, variable); };
  if (!affine || !llvm::all_of(affine->assumptions, isChecked))
    return ofLanes(pointer, map, level);
  const AffineForm form = *affine;
  levels.insertAt(0);
  llvm::Value *base;
  SmallVector<llvm::Value *, 4> strides;
  if (redirect && redirect->base) {
    base = redirect->base;
    strides.assign(redirect->strides.begin(), redirect->strides.end());
  } else {
    llvm::Value *&start = known[0][{pointer.getAsOpaquePointer(), nullptr}];
    if (!start)
      start = context.scalars.firstAddress(form);
    base = start;
    for (const Polynomial &stride : form.steps)
      strides.push_back(context.scalars.poly(stride));
  }
  ChunkAccess access;
  access.address = addressAt(base, strides, map);
  access.stride = ir.getInt64(0);
  for (auto [dim, loop] : llvm::enumerate(map))
    if (loop == nest.vectorDim && loop >= 0)
      access.stride = strides[dim];
  levels.insertAt(level);
  return access;
}

ChunkAccess AddressEmitter::ofBuffer(llvm::Value *base, BufferId buffer, Type tile, const IndexMap &map) {
  ArrayRef<int64_t> shape = tt::shapeOf(tile);
  SmallVector<llvm::Value *, 4> strides(shape.size());
  int64_t stride = storageBytes(tt::elementOf(tile));
  ChunkAccess access;
  access.stride = ir.getInt64(0);
  context.plan.buffers[buffer].forEachDim(shape.size(), [&](size_t dim) {
    strides[dim] = ir.getInt64(stride);
    if (map[dim] >= 0 && map[dim] == nest.vectorDim)
      access.stride = strides[dim];
    stride *= shape[dim];
  });
  access.address = addressAt(base, strides, map);
  return access;
}

llvm::Value *AddressEmitter::ofLane(ChunkAccess access, llvm::Value *lane) {
  if (!access.stride)
    return ir.CreateExtractElement(access.address, lane);
  return ir.CreatePtrAdd(access.address, ir.CreateMul(ir.CreateZExt(lane, ir.getInt64Ty()), access.stride));
}

/// Of pointers that are contiguous along the vector dimension where their one remainder does not wrap.
int64_t AddressEmitter::unwrappedBytes(Value pointer, const IndexMap &map) {
  const AffineForm *form = context.affineInfo.assumed(pointer);
  if (!form || form->assumptions.size() != 1) // several remainders may wrap in opposite directions
    return 0;
  for (auto [dim, loop] : llvm::enumerate(map))
    if (loop == nest.vectorDim && isContiguous(*form, dim, pointer))
      return (context.chunk.lanes - 1) * *form->steps[dim].constant();
  return 0;
}
