// Drops the layouts of a Gluon kernel for a target without warps: what remains is `tt`.
//
//   %y = ttg.convert_layout %x : tensor<64xf32, #a> -> tensor<64xf32, #b>      (gone)
//   %z = arith.addf %y, %y : tensor<64xf32, #b>                             -> %z = arith.addf %x, %x : tensor<64xf32>
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/gluon/Diagnostics.h"
#include "compiler/passes/gluon/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::gluon {
#define GEN_PASS_DEF_DROPLAYOUTS
#include "compiler/passes/gluon/Passes.h.inc"
} // namespace nereid::gluon

using namespace mlir;
using namespace nereid;
using namespace nereid::gluon;

static Type withoutLayout(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && tile.getEncoding() ? tile.dropEncoding() : type;
}

static void dropLayouts(Operation *op) {
  for (Value result : op->getResults())
    result.setType(withoutLayout(result.getType()));
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments())
        argument.setType(withoutLayout(argument.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(elements.reshape(cast<ShapedType>(withoutLayout(elements.getType()))));
  if (auto function = dyn_cast<tt::FuncOp>(op)) {
    const SmallVector<Type> inputs = llvm::map_to_vector(function.getArgumentTypes(), withoutLayout),
                            results = llvm::map_to_vector(function.getResultTypes(), withoutLayout);
    function.setType(FunctionType::get(op->getContext(), inputs, results));
  }
}

/// The names of the dialects that work on tiles without layouts.
static bool isOfTiles(Operation *op) {
  const StringRef dialect = op->getName().getDialectNamespace();
  return dialect != "ttg" && dialect != "ttng" && dialect != "amdg" && dialect != "gluon";
}

namespace {
struct DropLayouts : gluon::impl::DropLayoutsBase<DropLayouts> {
  using DropLayoutsBase::DropLayoutsBase;

  void runOnOperation() final {
    // The same tile in another layout.
    getOperation().walk([](Operation *op) {
      if (!isa<ttg::ConvertLayoutOp, SetAutoLayoutOp>(op))
        return;
      op->getResult(0).replaceAllUsesWith(op->getOperand(0));
      op->erase();
    });
    const WalkResult result = getOperation().walk([](Operation *op) {
      if (!isOfTiles(op) && !isa<ttg::BarrierOp>(op)) { // a program of one thread passes every barrier
        (void)tt::report(op->getLoc(), diag::NeedsWarps, op->getName().stripDialect());
        return WalkResult::interrupt();
      }
      dropLayouts(op);
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
