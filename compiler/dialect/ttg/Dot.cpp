// Relates the layouts of a dot's tiles, also those of scales.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
template <typename Dot> struct DotRelation : LayoutRelationOpInterface::ExternalModel<DotRelation<Dot>, Dot> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    auto dot = cast<Dot>(op);
    LayoutRelation relation(op, dot.getType());
    relation.choice = LayoutRelation::Choice::Accumulator;
    for (LayoutLink &link : relation.operands)
      link.kind = LayoutLink::Kind::DotOperand;
    relation.operands[dot.getCMutable().getOperandNumber()].kind = LayoutLink::Kind::ToOp;
    relation.results.front().kind = LayoutLink::Kind::FromOp;
    return relation;
  }
};
} // namespace

void ttg::addDotRules(MLIRContext *context) {
  tt::DotOp::attachInterface<DotRelation<tt::DotOp>>(*context);
  tt::DotScaledOp::attachInterface<DotRelation<tt::DotScaledOp>>(*context);
}
