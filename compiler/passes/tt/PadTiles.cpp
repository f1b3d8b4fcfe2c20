// Rounds the extents of tiles up to powers of two, as layouts need, and keeps the program's results.
//
//   %x = tt.load %p : tensor<100x!tt.ptr<f32>>   ->   %m = (make_range 0..128) < 100
//   %s = "tt.reduce"(%x) { addf }                     %x = tt.load %p, %m : tensor<128x!tt.ptr<f32>>
//                                                     %s = "tt.reduce"(%m ? %x : -0.0) { addf }
//
// Elements beyond the old extents are undefined. First all types change; then every op that would use such elements is
// masked or rewritten: docs/why/extents.md.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/PaddedTiles.h"
#include "compiler/passes/tt/Passes.h"

#include "compiler/dialect/tt/Extents.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

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

//--- rewrites before padding ---------------------------------------------------------------

/// Concatenates in row order, one of the orders that the op allows.
static void orderCat(CatOp op) {
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto type = cast<RankedTensorType>(op.getLhs().getType());
  const int64_t count = type.getNumElements();
  Value pairs = JoinOp::create(builder, type.clone({count, 2}), op.getLhs(), op.getRhs());
  Value rows = TransOp::create(builder, type.clone({2, count}), pairs, ArrayRef<int32_t>{1, 0});
  op.replaceAllUsesWith(Value(ReshapeOp::create(builder, cast<RankedTensorType>(op.getType()), rows, false, false)));
  op->erase();
}

/// Puts elements that are mapped together in adjacent positions of a flattened tile.
static void flattenMap(MapElementwiseOp op) {
  auto type = cast<RankedTensorType>(op.getSrcs().front().getType());
  if (type.getRank() == 1 || type.getShape().back() % op.getPack() == 0)
    return;
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  auto reshaped = [&](Value tile, ArrayRef<int64_t> shape) {
    auto to = RankedTensorType::get(shape, elementOf(tile.getType()));
    return Value(ReshapeOp::create(builder, to, tile, false, false));
  };
  for (OpOperand &operand : op->getOpOperands())
    operand.set(reshaped(operand.get(), type.getNumElements()));
  builder.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    auto line = RankedTensorType::get({type.getNumElements()}, elementOf(result.getType()));
    result.setType(line);
    Value again = reshaped(result, type.getShape());
    result.replaceAllUsesExcept(again, again.getDefiningOp());
  }
}

static LogicalResult checkOp(Operation *op) {
  if (isa<ReduceOp, ScanOp, MapElementwiseOp>(op) && !isMemoryEffectFree(op))
    return op->emitError("a function with effects is applied to a tile whose extents are no powers of two; this target "
                         "rounds them up and would run it for elements that are not there");
  if (isa<DescriptorLoadOp, DescriptorStoreOp, DescriptorReduceOp, DescriptorGatherOp, DescriptorScatterOp>(op))
    return op->emitError("a descriptor's block has extents that are no powers of two; this target has no such copies");
  if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && hasUnpaddedTile(op))
    if (auto dense = dyn_cast<DenseElementsAttr>(constant.getValue()); !dense || !dense.isSplat())
      return op->emitError("a tile of different constants is not supported on this target");
  return success();
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

//--- ops that would use elements that do not exist -----------------------------------------

namespace {
/// An op and the original shapes of its operands and results.
struct UnpaddedOp {
  Operation *op;
  SmallVector<Extents, 4> operands, results;
};
} // namespace

template <typename Op> static void maskAccess(Op op, ArrayRef<int64_t> extents) {
  PaddedBuilder builder(op);
  Value mask = builder.existing(paddedExtents(extents), extents);
  if (op.getMask())
    mask = arith::AndIOp::create(builder.builder, op.getMask(), mask);
  op.getMaskMutable().assign(mask);
}

static void markExtents(const UnpaddedOp &unpadded) {
  Builder builder(unpadded.op->getContext());
  SmallVector<Attribute> marks;
  for (const Extents &extents : unpadded.operands)
    marks.push_back(builder.getDenseI64ArrayAttr(extents));
  unpadded.op->setAttr(kExtents, builder.getArrayAttr(marks));
}

/// Zeroes a dot's operands beyond the extent along K; rows and columns do not mix.
static void padDot(DotOp op, const UnpaddedOp &unpadded) {
  auto clear = [&](OpOperand &operand, unsigned fromLast) {
    const Extents &extents = unpadded.operands[operand.getOperandNumber()];
    Extents existing = paddedExtents(extents);
    const size_t dim = existing.size() - fromLast;
    if (existing[dim] == extents[dim])
      return;
    existing[dim] = extents[dim];
    PaddedBuilder builder(op);
    operand.set(
        builder.onlyExisting(operand.get(), existing, builder.builder.getZeroAttr(elementOf(operand.get().getType()))));
  };
  clear(op.getAMutable(), 1);
  clear(op.getBMutable(), 2);
}

/// An index outside of the source still returns one of the source's elements.
static void padGather(GatherOp op, const UnpaddedOp &unpadded) {
  const int64_t last = unpadded.operands.front()[op.getAxis()] - 1;
  const unsigned bits = elementOf(op.getIndices().getType()).getIntOrFloatBitWidth();
  if (llvm::isPowerOf2_64(last + 1) || !llvm::isUIntN(bits, last))
    return;
  PaddedBuilder builder(op);
  Value limit = builder.constant(op.getIndices().getType(), llvm::SignExtend64(last, bits));
  op.getIndicesMutable().assign(arith::MinUIOp::create(builder.builder, op.getIndices(), limit));
}

static void padOp(const UnpaddedOp &unpadded) {
  llvm::TypeSwitch<Operation *>(unpadded.op)
      .Case<LoadOp, StoreOp, AtomicRMWOp, AtomicLoadOp, AtomicStoreOp>(
          [&](auto op) { maskAccess(op, unpadded.operands.front()); })
      .Case<HistogramOp>([&](auto op) {
        if (needsPadding(unpadded.operands.front()))
          maskAccess(op, unpadded.operands.front());
      })
      .Case<AtomicCASOp, PrintOp>([&](auto) { markExtents(unpadded); })
      .Case<ElementwiseInlineAsmOp>([&](auto op) {
        if (!op.getPure())
          markExtents(unpadded);
      })
      .Case<AssertOp>([&](auto op) {
        PaddedBuilder builder(op);
        op.getConditionMutable().assign(
            builder.onlyExisting(op.getCondition(), unpadded.operands.front(), builder.builder.getBoolAttr(true)));
      })
      .Case<GatherOp>([&](auto op) { padGather(op, unpadded); })
      .Case<DotOp>([&](auto op) { padDot(op, unpadded); })
      .Case<ReduceOp>([&](auto op) { padReduce(op, unpadded.operands.front()); })
      .Case<ScanOp>([&](auto op) { padScan(op, unpadded.operands.front()); })
      .Case<ReshapeOp>([&](auto op) { padReshape(op, unpadded.operands.front(), unpadded.results.front()); });
}

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
    for (Operation *op : collect()) {
      if (failed(checkOp(op)))
        return signalPassFailure();
      if (auto cat = dyn_cast<CatOp>(op))
        orderCat(cat);
      else if (auto map = dyn_cast<MapElementwiseOp>(op))
        flattenMap(map);
    }
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
      padOp(unpadded);
    numPadded += unpaddedOps.size();
  }
};
} // namespace
