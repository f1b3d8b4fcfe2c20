// Emits addresses and masks of a block of a strided array.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/StridedBlock.h"

#include "compiler/dialect/tt/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

/// The extents of the whole block.
static SmallVector<int64_t> blockShape(const StridedBlock &block) {
  SmallVector<int64_t> shape;
  for (Value line : block.coordinates)
    shape.push_back(shapeOf(line.getType()).front());
  return shape;
}

/// Expands and broadcasts a 1-D tile along `dim` to the whole block.
static Value spread(OpBuilder &builder, Location loc, Value line, size_t dim, ArrayRef<int64_t> shape) {
  Type element = elementOf(line.getType());
  SmallVector<int64_t> extents{shape[dim]};
  for (size_t other = 0; other < shape.size(); ++other) {
    if (other == dim)
      continue;
    const size_t at = other < dim ? 0 : extents.size();
    extents.insert(extents.begin() + at, 1);
    line = ExpandDimsOp::create(builder, loc, RankedTensorType::get(extents, element), line, at);
  }
  if (ArrayRef<int64_t>(extents) == shape)
    return line;
  return BroadcastOp::create(builder, loc, RankedTensorType::get(shape, element), line);
}

Value tt::coordinatesFrom(OpBuilder &builder, Location loc, Value first, int64_t extent) {
  const auto steps = RankedTensorType::get({extent}, builder.getI32Type());
  const auto wide = RankedTensorType::get({extent}, builder.getI64Type());
  Value range = MakeRangeOp::create(builder, loc, steps, 0, static_cast<int32_t>(extent));
  range = arith::ExtSIOp::create(builder, loc, wide, range);
  return arith::AddIOp::create(builder, loc, SplatOp::create(builder, loc, wide, first), range);
}

Value tt::pointersOf(OpBuilder &builder, Location loc, const StridedBlock &block) {
  const SmallVector<int64_t> shape = blockShape(block);
  Value distance;
  for (auto [dim, line] : llvm::enumerate(block.coordinates)) {
    Value stride = SplatOp::create(builder, loc, line.getType(), block.strides[dim]);
    Value part = spread(builder, loc, arith::MulIOp::create(builder, loc, line, stride), dim, shape);
    distance = distance ? arith::AddIOp::create(builder, loc, distance, part).getResult() : part;
  }
  const auto pointers = RankedTensorType::get(shape, block.base.getType());
  Value bases = SplatOp::create(builder, loc, pointers, block.base);
  return AddPtrOp::create(builder, loc, pointers, bases, distance);
}

Value tt::insideOf(OpBuilder &builder, Location loc, const StridedBlock &block, ArrayRef<int64_t> dims) {
  const SmallVector<int64_t> shape = blockShape(block);
  Value result;
  auto also = [&](arith::CmpIPredicate predicate, int64_t dim, Value bound) {
    Value line = block.coordinates[dim];
    Value limits = SplatOp::create(builder, loc, line.getType(), bound);
    Value inside = spread(builder, loc, arith::CmpIOp::create(builder, loc, predicate, line, limits), dim, shape);
    result = result ? arith::AndIOp::create(builder, loc, result, inside).getResult() : inside;
  };
  for (int64_t dim : dims) {
    also(arith::CmpIPredicate::sge, dim, arith::ConstantIntOp::create(builder, loc, 0, 64));
    also(arith::CmpIPredicate::slt, dim, block.shape[dim]);
  }
  return result;
}
