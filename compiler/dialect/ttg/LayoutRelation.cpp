// Builds the relations of layouts that ops state.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LayoutTransfer ttg::transferBetween(LayoutTransfer::Kind kind, Type from, Type to) {
  return {kind, 0, {}, llvm::to_vector(tt::shapeOf(from)), llvm::to_vector(tt::shapeOf(to))};
}

LayoutRelation::LayoutRelation(Operation *op, Type tile)
    : tile(dyn_cast_or_null<RankedTensorType>(tile)), operands(op->getNumOperands()), results(op->getNumResults()) {}

void LayoutRelation::uniteOperands(Operation *op) {
  for (auto [link, operand] : llvm::zip_equal(operands, op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()))
      link.kind = LayoutLink::Kind::Same;
}

void LayoutRelation::uniteResults(Operation *op) {
  for (auto [link, result] : llvm::zip_equal(results, op->getResults()))
    if (isa<RankedTensorType>(result.getType()))
      link.kind = LayoutLink::Kind::Same;
}
