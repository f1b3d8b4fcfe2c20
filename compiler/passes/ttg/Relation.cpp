// How layouts follow from one another across reductions and changes of shape.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LayoutClasses.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

LayoutEncoding Relation::forward(LayoutEncoding start) const {
  switch (kind) {
  case Kind::Same:
    return start;
  case Kind::Slice:
    return SliceAttr::get(start.getContext(), axis, start);
  case Kind::Expand:
    return inferExpanded(start, from, axis);
  case Kind::Transpose:
    return inferTransposed(start, from, order);
  case Kind::Reshape:
    return inferReshaped(start, from, to);
  }
  llvm_unreachable("a relation of no kind");
}

LayoutEncoding Relation::backward(LayoutEncoding end) const {
  switch (kind) {
  case Kind::Same:
    return end;
  case Kind::Slice: {
    auto slice = dyn_cast<SliceAttr>(end);
    return slice && slice.getDim() == axis ? slice.getParent() : LayoutEncoding();
  }
  case Kind::Expand:
    return SliceAttr::get(end.getContext(), axis, end);
  case Kind::Transpose: {
    SmallVector<int32_t> inverse(order.size());
    for (auto [result, source] : llvm::enumerate(order))
      inverse[source] = result;
    return inferTransposed(end, to, inverse);
  }
  case Kind::Reshape:
    return inferReshaped(end, to, from);
  }
  llvm_unreachable("a relation of no kind");
}

std::optional<Relation> ttg::shapeRelation(Operation *op) {
  Relation relation;
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    relation.kind = Relation::Kind::Expand;
    relation.axis = expand.getAxis();
  } else if (auto trans = dyn_cast<tt::TransOp>(op)) {
    relation.kind = Relation::Kind::Transpose;
    relation.order.assign(trans.getOrder().begin(), trans.getOrder().end());
  } else if (isa<tt::ReshapeOp>(op)) {
    relation.kind = Relation::Kind::Reshape;
  } else {
    return std::nullopt;
  }
  relation.from = llvm::to_vector(tt::shapeOf(op->getOperand(0).getType()));
  relation.to = llvm::to_vector(tt::shapeOf(op->getResult(0).getType()));
  return relation;
}
