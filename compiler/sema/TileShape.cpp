// Checks of tile shapes, and reshaping of tiles without moving their elements.
// SPDX-License-Identifier: MIT
#include "compiler/sema/TileShape.h"

#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace nereid::sema {

std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(shape, os);
  os << ']';
  return text;
}

bool allowsAnyExtent(const TtFunctionEmitter &emitter) {
  return artifact::targetInfo(emitter.module.target.backend).takesAnyExtent;
}

bool checkTileShape(TtFunctionEmitter &emitter, llvm::ArrayRef<int64_t> shape, SourceRange range) {
  bool isGood = true;
  int64_t count = 1;
  for (auto [index, extent] : llvm::enumerate(shape)) {
    if (extent <= 0) {
      emitter.error(diag::ExtentNotPositive, range, index, extent);
      isGood = false;
    } else if (!allowsAnyExtent(emitter) && !llvm::isPowerOf2_64(extent)) {
      emitter.error(diag::ExtentNotPowerOfTwo, range, index, extent);
      isGood = false;
    } else {
      count = llvm::SaturatingMultiply<uint64_t>(count, extent) > uint64_t{1} << 62 ? int64_t{1} << 62 : count * extent;
    }
  }
  if (!isGood || count <= maxTileElements)
    return isGood;
  emitter.error(diag::TileTooLarge, range, count, maxTileElements, shapeText(shape));
  return false;
}

std::optional<int64_t> checkAxis(TtFunctionEmitter &emitter, int64_t axis, int64_t rank, SourceRange range) {
  if (-rank <= axis && axis < rank)
    return axis < 0 ? axis + rank : axis;
  emitter.error(diag::AxisOutOfRange, range, axis, rank, -rank, rank - 1);
  return std::nullopt;
}

Value expandDims(TtFunctionEmitter &emitter, const Value &tensor, int64_t axis, SourceRange range) {
  const TensorValue *source = tensor.tensor();
  if (!source)
    return Value::poison();
  assert(0 <= axis && axis <= int64_t(source->type.shape.size()) && "the axis was not checked");
  llvm::SmallVector<int64_t> shape(llvm::ArrayRef<int64_t>(source->type.shape));
  shape.insert(shape.begin() + axis, 1);
  const Type type = source->type.withShape(shape);
  const mlir::Location loc = emitter.location(range);
  const mlir::Type irType = type.toMlir(emitter.builder.getContext());
  if (!source->type.isTile())
    return Value::tensor(tt::SplatOp::create(emitter.builder, loc, irType, source->value), type);
  return Value::tensor(tt::ExpandDimsOp::create(emitter.builder, loc, irType, source->value, axis), type);
}

/// The shape that both broadcast to by NumPy's rule; nothing after an error.
static std::optional<llvm::SmallVector<int64_t>> commonShape(TtFunctionEmitter &emitter, llvm::ArrayRef<int64_t> left,
                                                             llvm::ArrayRef<int64_t> right, SourceRange range) {
  llvm::SmallVector<int64_t> result(std::max(left.size(), right.size()));
  for (size_t index = 0; index < result.size(); ++index) {
    auto extentOf = [&](llvm::ArrayRef<int64_t> shape) {
      const size_t padding = result.size() - shape.size();
      return index < padding ? 1 : shape[index - padding];
    };
    const int64_t a = extentOf(left), b = extentOf(right);
    if (a != b && a != 1 && b != 1) {
      emitter.error(diag::ShapeMismatch, range, index, a, b, shapeText(left), shapeText(right),
                    hintForAlignment(left, right));
      return std::nullopt;
    }
    result[index] = a == 1 ? b : a;
  }
  return result;
}

bool broadcastAll(TtFunctionEmitter &emitter, llvm::MutableArrayRef<Value> tensors, SourceRange range) {
  llvm::SmallVector<int64_t> shape;
  for (const Value &tensor : tensors) {
    if (!tensor.tensor())
      return false;
    std::optional<llvm::SmallVector<int64_t>> next = commonShape(emitter, shape, tensor.tensor()->type.shape, range);
    if (!next)
      return false;
    shape = *next;
  }
  if (!checkTileShape(emitter, shape, range))
    return false;
  for (Value &tensor : tensors) {
    while (tensor.tensor()->type.isTile() && tensor.tensor()->type.shape.size() < shape.size())
      tensor = expandDims(emitter, tensor, 0, range);
    tensor = emitter.broadcastTo(tensor, shape, range);
  }
  return llvm::none_of(tensors, [](const Value &tensor) { return tensor.isPoison(); });
}

bool TtFunctionEmitter::broadcastTogether(Value &left, Value &right, SourceRange range) {
  Value both[] = {left, right};
  if (!broadcastAll(*this, both, range))
    return false;
  left = both[0];
  right = both[1];
  return true;
}

Value TtFunctionEmitter::broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, SourceRange range) {
  const TensorValue *source = value.tensor();
  if (!source)
    return Value::poison();
  const Type &from = source->type;
  const Type type = from.withShape(shape);
  if (from == type)
    return value;
  if (!checkTileShape(*this, shape, range))
    return Value::poison();
  mlir::Type irType = type.toMlir(builder.getContext());
  if (!from.isTile())
    return Value::tensor(tt::SplatOp::create(builder, location(range), irType, source->value), type);
  if (from.shape.size() != shape.size())
    return error(diag::BroadcastRank, range, shapeText(from.shape), shapeText(shape));
  for (auto [index, extents] : llvm::enumerate(llvm::zip_equal(from.shape, shape)))
    if (auto [before, after] = extents; before != after && before != 1)
      return error(diag::BroadcastExtent, range, after, before, index, shapeText(from.shape), shapeText(shape));
  return Value::tensor(tt::BroadcastOp::create(builder, location(range), irType, source->value), type);
}

} // namespace nereid::sema
