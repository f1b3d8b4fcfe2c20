// Rules of reductions: shapes, and the region that combines two elements.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/EncodingRules.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid::tt;

/// The type of reducing `tile` along `axis`.
static Type reducedType(RankedTensorType tile, int64_t axis) {
  SmallVector<int64_t> shape(tile.getShape());
  shape.erase(shape.begin() + axis);
  if (shape.empty())
    return tile.getElementType();
  const EncodingRules *rules = encodingRulesOf(tile);
  return RankedTensorType::get(shape, tile.getElementType(), rules ? rules->reduced(tile, axis) : Attribute());
}

LogicalResult ReduceOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &results) {
  const int64_t axis = static_cast<int32_t>(adaptor.getAxis());
  for (Value source : adaptor.getSrcs()) {
    auto tile = cast<RankedTensorType>(source.getType());
    if (axis < 0 || axis >= tile.getRank()) // C1
      return emitOptionalError(loc, "reduction axis ", axis, " is outside [0, ", tile.getRank(), ")");
    results.push_back(reducedType(tile, axis)); // C3
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (getSrcs().empty())
    return emitOpError("has no operand");
  auto first = cast<RankedTensorType>(getSrcs().front().getType());
  for (Value source : getSrcs()) { // C1
    auto tile = cast<RankedTensorType>(source.getType());
    if (tile.getShape() != first.getShape())
      return emitOpError("operands have different shapes");
    if (tile.getEncoding() != first.getEncoding())
      return emitOpError("operands have different encodings");
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  Block &body = getCombine().front();
  SmallVector<Type> elements;
  for (Value source : getSrcs())
    elements.push_back(elementOf(source.getType()));
  SmallVector<Type> expected(elements);
  expected.append(elements);
  if (!llvm::equal(body.getArgumentTypes(), expected)) // C2
    return emitOpError("combine region must take two scalars of each operand's element type");
  auto end = dyn_cast<ReduceReturnOp>(body.getTerminator());
  if (!end || !llvm::equal(end.getValues().getTypes(), elements))
    return emitOpError("combine region must return one scalar of each operand's element type");
  return success();
}
