// Turns basic blocks and branches into `scf`, so that later passes find one basic block in each region.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/Passes.h"

#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Report.h"

#include "mlir/Conversion/ControlFlowToSCF/ControlFlowToSCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace nereid::tt {
#define GEN_PASS_DEF_LIFTCONTROLFLOW
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;

namespace {
/// As upstream, but supports functions of `tt`.
struct Lifting : ControlFlowToSCFTransformation {
  FailureOr<Operation *> createUnreachableTerminator(Location loc, OpBuilder &builder, Region &region) final {
    auto function = dyn_cast<tt::FuncOp>(region.getParentOp());
    if (!function)
      return failure(); // a loop without an end
    SmallVector<Value> values;
    for (Type type : function.getResultTypes())
      values.push_back(getUndefValue(loc, builder, type));
    return tt::ReturnOp::create(builder, loc, values).getOperation();
  }
};

struct LiftControlFlow : tt::impl::LiftControlFlowBase<LiftControlFlow> {
  void runOnOperation() final {
    SmallVector<Region *> graphs; // inner ones first
    getOperation()->walk([&](Operation *op) {
      for (Region &region : op->getRegions())
        if (!region.empty() && !region.hasOneBlock())
          graphs.push_back(&region);
    });
    for (Region *region : graphs)
      if (failed(lift(*region)))
        return signalPassFailure();
  }

  LogicalResult lift(Region &region) {
    Operation *owner = region.getParentOp();
    IRRewriter rewriter(owner->getContext());
    (void)eraseUnreachableBlocks(rewriter, region); // code after a return
    if (region.hasOneBlock())
      return success();
    Lifting lifting;
    DominanceInfo dominance(owner);
    if (succeeded(transformCFGToSCF(region, lifting, dominance)) && region.hasOneBlock())
      return success();
    return tt::report(owner->getLoc(), tt::diag::UnstructuredControlFlow, owner->getName().stripDialect());
  }
};
} // namespace
