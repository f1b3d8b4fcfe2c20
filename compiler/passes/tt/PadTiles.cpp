// Rounds the extents of tiles up to powers of two, as layouts need, and keeps the program's results.
//
//   %x = tt.load %p : tensor<100x!tt.ptr<f32>>   ->   %m = (make_range 0..128) < 100
//   %s = "tt.reduce"(%x) { addf }                     %x = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
//                                                     %s = "tt.reduce"(%m ? %x : -0.0) { addf }
//
// Elements beyond the old extents are undefined. First all types change; then every op that would use such elements is
// masked or rewritten: docs/why/extents.md.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/PaddedTiles.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/tt/Passes.h"

namespace nereid::tt {
#define GEN_PASS_DEF_PADTILES
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

static bool hasUnpaddedTile(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile && needsPadding(tile.getShape());
}

static bool hasUnpaddedTile(Operation *op) {
  return llvm::any_of(op->getOperandTypes(), [](Type type) { return hasUnpaddedTile(type); }) ||
         llvm::any_of(op->getResultTypes(), [](Type type) { return hasUnpaddedTile(type); });
}

/// A tile of different constants has no values for padding.
static LogicalResult checkConstant(Operation *op) {
  auto constant = dyn_cast<arith::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  if (!constant || (dense && dense.isSplat()))
    return success();
  return report(op->getLoc(), diag::TileConstants);
}

/// Ops that rewrite themselves for padding, or cannot be padded.
static LogicalResult prepare(Operation *op) {
  auto paddable = dyn_cast<PaddableOpInterface>(op);
  return paddable ? paddable.prepareForPadding() : checkConstant(op);
}

//--- types ---------------------------------------------------------------------------------

static void padTypes(Operation *op) {
  for (Value result : op->getResults())
    result.setType(paddedType(result.getType()));
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      argument.setType(paddedType(argument.getType()));
  if (auto range = dyn_cast<MakeRangeOp>(op))
    range.setEnd(range.getStart() + shapeOf(range.getType()).front());
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()); dense && dense.getType() != constant.getType())
      constant.setValueAttr(
          DenseElementsAttr::get(cast<ShapedType>(constant.getType()), dense.getSplatValue<Attribute>()));
  if (auto function = dyn_cast<FuncOp>(op)) {
    auto padded = [](TypeRange types) { return llvm::map_to_vector(types, paddedType); };
    const FunctionType type = function.getFunctionType();
    function.setType(FunctionType::get(op->getContext(), padded(type.getInputs()), padded(type.getResults())));
  }
}

namespace {
/// An op and the original shapes of its operands and results.
struct UnpaddedOp {
  Operation *op;
  SmallVector<Extents, 4> operands, results;
};
} // namespace

namespace {
struct PadTiles : tt::impl::PadTilesBase<PadTiles> {
  using PadTilesBase::PadTilesBase;

  /// The module's ops that have such a tile.
  SmallVector<Operation *> collect() {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (hasUnpaddedTile(op))
        ops.push_back(op);
    });
    return ops;
  }

  void runOnOperation() final {
    for (Operation *op : collect())
      if (failed(prepare(op)))
        return signalPassFailure();
    std::vector<UnpaddedOp> unpaddedOps;
    for (Operation *op : collect()) {
      UnpaddedOp &unpadded = unpaddedOps.emplace_back(UnpaddedOp{op, {}, {}});
      for (Type type : op->getOperandTypes())
        unpadded.operands.emplace_back(shapeOf(type));
      for (Type type : op->getResultTypes())
        unpadded.results.emplace_back(shapeOf(type));
    }
    if (unpaddedOps.empty())
      return markAllAnalysesPreserved();
    getOperation().walk([](Operation *op) { padTypes(op); });
    for (const UnpaddedOp &unpadded : unpaddedOps)
      if (auto paddable = dyn_cast<PaddableOpInterface>(unpadded.op))
        paddable.excludePadding(unpadded.operands, unpadded.results);
    numPadded += unpaddedOps.size();
  }
};
} // namespace
