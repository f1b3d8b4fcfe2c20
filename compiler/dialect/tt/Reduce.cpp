// Verifies reductions: shapes, and the region that combines two elements.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Combine.h"
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

LogicalResult ReduceOp::verify() { return verifyCombined(*this, getSrcs()); } // C1

LogicalResult ReduceOp::verifyRegions() {
  Block &body = getCombine().front();
  return verifyCombineRegion(*this, getSrcs(), body, dyn_cast<ReduceReturnOp>(body.getTerminator())); // C2
}
