// Registers the `check` dialect and verifies its op.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/check/Dialect.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace nereid::check;

#include "compiler/dialect/check/Dialect.cpp.inc"
#include "compiler/dialect/check/Enums.cpp.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/check/Ops.cpp.inc"

void CheckDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "compiler/dialect/check/Ops.cpp.inc"
      >();
}

static ArrayRef<int64_t> shapeOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getShape() : ArrayRef<int64_t>();
}

static Type elementOf(Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  return tile ? tile.getElementType() : value.getType();
}

LogicalResult ValuesOp::verify() {
  const size_t count = getValues().size(), least = getHasMask() ? 2 : 1;
  if (count < least)
    return emitOpError("has ") << count << " values; it needs " << least;
  if (getHasMask() && (!elementOf(getValues().back()).isInteger(1) ||
                       shapeOf(getValues().back()) != shapeOf(getValues().front()))) // C1
    return emitOpError("has a mask of type ")
           << getValues().back().getType() << "; its values have type " << getValues().front().getType();
  if (getKind() == Kind::Nan)
    return success();
  for (Value value : getValues())
    if (shapeOf(value) != shapeOf(getValues().front())) // C2
      return emitOpError("has values of types ") << getValues().front().getType() << " and " << value.getType();
  return success();
}
