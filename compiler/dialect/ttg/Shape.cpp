// Verifies and folds convert_layout, states its scratch memory, and relates the layouts of ops that change shapes.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LogicalResult ConvertLayoutOp::verify() {
  for (Value value : {getSrc(), getResult()}) // C1; the encoding may be one that is still to be found
    if (!cast<RankedTensorType>(value.getType()).getEncoding())
      return emitOpError("type ") << value.getType() << " has no encoding";
  return success();
}

tt::ElementMap ConvertLayoutOp::getElementMap(unsigned, unsigned) {
  return tt::identityMap(tt::shapeOf(getType()).size());
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(adaptor.getSrc()))
    return SplatElementsAttr::get(cast<ShapedType>(getType()), splat.getSplatValue<Attribute>());
  if (auto inner = getSrc().getDefiningOp<ConvertLayoutOp>()) {
    setOperand(inner.getSrc());
    return getResult();
  }
  return {};
}

Scratch ConvertLayoutOp::getScratch() {
  const layout::ConversionPlan plan = planConversion(*this);
  if (plan.kind != layout::ConversionKind::Shared)
    return {};
  return {.bytes = plan.sharedBytes(), .barriers = plan.shared.barriers(), .isOfWarps = plan.shared.isWithinWarps};
}

//--- ops that change shapes ----------------------------------------------------------------

/// An op that changes a shape works in its result's layout: a conversion comes before it.
static LayoutRelation relateShapes(Operation *op, LayoutTransfer::Kind kind) {
  const Type source = op->getOperand(0).getType(), result = op->getResult(0).getType();
  LayoutRelation relation(op, result);
  relation.operands.front() = {LayoutLink::Kind::ToOp, transferBetween(kind, source, result)};
  relation.results.front().kind = LayoutLink::Kind::Same;
  return relation;
}

namespace {
struct ExpandRelation : LayoutRelationOpInterface::ExternalModel<ExpandRelation, tt::ExpandDimsOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    LayoutRelation relation = relateShapes(op, LayoutTransfer::Kind::Expand);
    relation.operands.front().transfer.axis = cast<tt::ExpandDimsOp>(op).getAxis();
    return relation;
  }
};

struct TransRelation : LayoutRelationOpInterface::ExternalModel<TransRelation, tt::TransOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    LayoutRelation relation = relateShapes(op, LayoutTransfer::Kind::Transpose);
    relation.operands.front().transfer.order = llvm::to_vector(cast<tt::TransOp>(op).getOrder());
    return relation;
  }
};

struct ReshapeRelation : LayoutRelationOpInterface::ExternalModel<ReshapeRelation, tt::ReshapeOp> {
  LayoutRelation getLayoutRelation(Operation *op) const { return relateShapes(op, LayoutTransfer::Kind::Reshape); }
};
} // namespace

void ttg::addShapeRules(MLIRContext *context) {
  tt::ExpandDimsOp::attachInterface<ExpandRelation>(*context);
  tt::TransOp::attachInterface<TransRelation>(*context);
  tt::ReshapeOp::attachInterface<ReshapeRelation>(*context);
}
