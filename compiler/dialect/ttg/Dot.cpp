// Relates the layouts of a dot's tiles.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
struct DotRelation : LayoutRelationOpInterface::ExternalModel<DotRelation, tt::DotOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    auto dot = cast<tt::DotOp>(op);
    LayoutRelation relation(op, dot.getType());
    relation.choice = LayoutRelation::Choice::Accumulator;
    for (OpOperand *factor : {&dot.getAMutable(), &dot.getBMutable()})
      relation.operands[factor->getOperandNumber()].kind = LayoutLink::Kind::DotOperand;
    relation.operands[dot.getCMutable().getOperandNumber()].kind = LayoutLink::Kind::ToOp;
    relation.results.front().kind = LayoutLink::Kind::FromOp;
    return relation;
  }
};
} // namespace

void ttg::addDotRules(MLIRContext *context) { tt::DotOp::attachInterface<DotRelation>(*context); }
