// Checks of tile shapes, and reshaping of tiles without moving their elements.
// SPDX-License-Identifier: MIT
#include "compiler/sema/TileShape.h"

#include "artifact/TargetInfo.h"
#include "compiler/sema/CallReporter.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace nereid::sema {

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
  if (failed(tt::checkAxis(axis, rank, -rank, CallReporter(emitter, range))))
    return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

Value expandDims(TtFunctionEmitter &emitter, const Value &tensor, int64_t axis, SourceRange range) {
  const TensorValue *source = tensor.tensor();
  if (!source)
    return Value::poison();
  assert(0 <= axis && axis <= int64_t(source->type.shape.size()) && "the axis was not checked");
  const Type type = source->type.withShape(tt::expandedShape(source->type.shape, axis));
  return source->type.isTile() ? emitter.emit<tt::ExpandDimsOp>(type, range, tensor, axis)
                               : emitter.emit<tt::SplatOp>(type, range, tensor);
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
    if (!tensor.tensor()->type.isTile())
      continue;
    while (tensor.tensor() && tensor.tensor()->type.shape.size() < shape.size())
      tensor = expandDims(emitter, tensor, 0, range);
    tensor = emitter.broadcastTo(tensor, shape, range);
    if (tensor.isPoison())
      return false;
  }
  if (emitter.module.isGluon && !emitter.uniteLayouts(tensors, range))
    return false;
  const auto *tile = llvm::find_if(tensors, [](const Value &tensor) { return tensor.tensor()->type.isTile(); });
  const mlir::Attribute layout = tile == tensors.end() ? mlir::Attribute() : tile->tensor()->type.layout;
  for (Value &tensor : tensors)
    tensor = emitter.broadcastTo(tensor, shape, range, layout);
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

Value TtFunctionEmitter::broadcastTo(const Value &value, llvm::ArrayRef<int64_t> shape, SourceRange range,
                                     mlir::Attribute layout) {
  const TensorValue *source = value.tensor();
  if (!source)
    return Value::poison();
  const Type &from = source->type;
  const Type type = from.withShape(shape);
  if (from == type)
    return value;
  if (!checkTileShape(*this, shape, range))
    return Value::poison();
  if (!from.isTile())
    return emit<tt::SplatOp>(type.withLayout(layout), range, value);
  if (failed(tt::checkBroadcast(from.shape, shape, CallReporter(*this, range))))
    return Value::poison();
  return emit<tt::BroadcastOp>(type, range, value);
}

} // namespace nereid::sema
