// Relates the layouts of tiles that are joined or split.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/TtOpRules.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Both halves have the op's layout, and the whole one follows from it.
static LayoutRelation relateHalves(Operation *op, LayoutTransfer::Kind kind) {
  const Type half = op->getOperand(0).getType();
  LayoutRelation relation(op, half);
  relation.uniteOperands(op);
  relation.results.front() = {LayoutLink::Kind::FromOp, transferBetween(kind, half, op->getResult(0).getType())};
  return relation;
}

namespace {
struct JoinRelation : LayoutRelationOpInterface::ExternalModel<JoinRelation, tt::JoinOp> {
  LayoutRelation getLayoutRelation(Operation *op) const { return relateHalves(op, LayoutTransfer::Kind::Join); }
};

struct CatRelation : LayoutRelationOpInterface::ExternalModel<CatRelation, tt::CatOp> {
  LayoutRelation getLayoutRelation(Operation *op) const { return relateHalves(op, LayoutTransfer::Kind::Concatenate); }
};

/// The op works in the layout of a half. Each half may be converted by itself.
struct SplitRelation : LayoutRelationOpInterface::ExternalModel<SplitRelation, tt::SplitOp> {
  LayoutRelation getLayoutRelation(Operation *op) const {
    const Type half = op->getResult(0).getType();
    LayoutRelation relation(op, half);
    relation.operands.front() = {LayoutLink::Kind::FromOp,
                                 transferBetween(LayoutTransfer::Kind::Join, half, op->getOperand(0).getType())};
    for (LayoutLink &link : relation.results)
      link.kind = LayoutLink::Kind::FromOp;
    return relation;
  }
};
} // namespace

void ttg::addJoinRules(MLIRContext *context) {
  tt::JoinOp::attachInterface<JoinRelation>(*context);
  tt::CatOp::attachInterface<CatRelation>(*context);
  tt::SplitOp::attachInterface<SplitRelation>(*context);
}
