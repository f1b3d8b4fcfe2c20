// Expands pointers to tiles into base, shape, strides and offsets, and accesses through them into addresses.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/tt/StridedBlock.h"
#include "compiler/passes/tt/Diagnostics.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/TypeExpansion.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::tt {
#define GEN_PASS_DEF_EXPANDBLOCKPOINTERS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;
using tt::ExpansionPattern;

/// The tile that `type` points to; null for any other type.
static RankedTensorType pointeeTile(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  return pointer ? dyn_cast<RankedTensorType>(pointer.getPointee()) : RankedTensorType();
}

namespace {
/// The values that represent a pointer to a tile.
struct BlockPointerFields {
  ValueRange all;
  size_t rank;

  explicit BlockPointerFields(ValueRange all) : all(all), rank((all.size() - 1) / 3) {}
  Value base() const { return all.front(); }
  ValueRange shape() const { return all.slice(1, rank); }
  ValueRange strides() const { return all.slice(1 + rank, rank); }
  ValueRange offsets() const { return all.slice(1 + 2 * rank, rank); }
};

struct BlockPointerExpansion : TypeConverter {
  BlockPointerExpansion() {
    addConversion([](Type type) { return type; });
    addConversion([](tt::PointerType type, SmallVectorImpl<Type> &fields) -> std::optional<LogicalResult> {
      auto tile = pointeeTile(type);
      if (!tile)
        return std::nullopt;
      Builder builder(type.getContext());
      fields.push_back(tt::elementPointer(type));
      fields.append(2 * tile.getRank(), builder.getI64Type());
      fields.append(tile.getRank(), builder.getI32Type());
      return success();
    });
  }
};

struct ExpandMake : ExpansionPattern<tt::MakeTensorPtrOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorPtrOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithMultiple(op, {tt::flattenValues(adaptor.getOperands())});
    return success();
  }
};

struct ExpandAdvance : ExpansionPattern<tt::AdvanceOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::AdvanceOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const BlockPointerFields fields(adaptor.getPtr());
    SmallVector<Value> values(fields.all.drop_back(fields.rank));
    for (auto [offset, step] : llvm::zip_equal(fields.offsets(), tt::flattenValues(adaptor.getOffsets())))
      values.push_back(arith::AddIOp::create(rewriter, op.getLoc(), offset, step));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

/// The operands of an access through a pointer to a tile: an address for each element, and a mask of those inside the
/// array along the dimensions that `boundaryCheck` names; no mask where it names none.
struct Access {
  Value pointers, mask;
};

FailureOr<SmallVector<int64_t>> checkedDims(Operation *op, int64_t rank) {
  SmallVector<int64_t> checked;
  if (auto dims = op->getAttrOfType<DenseI32ArrayAttr>("boundaryCheck"))
    llvm::append_range(checked, dims.asArrayRef());
  for (int64_t dim : checked)
    if (dim < 0 || dim >= rank)
      return tt::report(op->getLoc(), tt::diag::BoundaryCheckDim, dim, rank);
  return checked;
}

FailureOr<Access> accessOf(Operation *op, RankedTensorType tile, ValueRange values, OpBuilder &builder) {
  const auto dims = checkedDims(op, tile.getRank());
  if (failed(dims))
    return failure();
  const BlockPointerFields fields(values);
  const Location loc = op->getLoc();
  tt::StridedBlock block{fields.base(), llvm::to_vector<5>(fields.shape()), llvm::to_vector<5>(fields.strides()), {}};
  for (auto [offset, extent] : llvm::zip_equal(fields.offsets(), tile.getShape())) {
    Value first = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), offset);
    block.coordinates.push_back(tt::coordinatesFrom(builder, loc, first, extent));
  }
  Value mask = tt::insideOf(builder, loc, block, *dims);
  return Access{tt::pointersOf(builder, loc, block), mask};
}

struct ExpandLoad : ExpansionPattern<tt::LoadOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::LoadOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const RankedTensorType tile = pointeeTile(op.getPtr().getType());
    if (!tile || op.getMask())
      return failure();
    const auto access = accessOf(op, tile, adaptor.getPtr(), rewriter);
    if (failed(access))
      return failure();
    Value other;
    if (auto padding = op->getAttrOfType<IntegerAttr>("padding"); padding && access->mask)
      other = fill(rewriter, op.getLoc(), tile, padding.getInt() == 2);
    rewriter.replaceOpWithNewOp<tt::LoadOp>(op, op.getType(), access->pointers, access->mask, other, op.getCache(),
                                            op.getEvict(), op.getIsVolatile());
    return success();
  }

  static Value fill(OpBuilder &builder, Location loc, RankedTensorType tile, bool isNan) {
    TypedAttr value = cast<TypedAttr>(builder.getZeroAttr(tile.getElementType()));
    if (auto element = dyn_cast<FloatType>(tile.getElementType()); element && isNan)
      value = FloatAttr::get(element, APFloat::getNaN(element.getFloatSemantics()));
    return arith::ConstantOp::create(builder, loc, SplatElementsAttr::get(tile, Attribute(value)));
  }
};

struct ExpandStore : ExpansionPattern<tt::StoreOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::StoreOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const RankedTensorType tile = pointeeTile(op.getPtr().getType());
    if (!tile || op.getMask())
      return failure();
    const auto access = accessOf(op, tile, adaptor.getPtr(), rewriter);
    if (failed(access))
      return failure();
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, access->pointers, adaptor.getValue().front(), access->mask,
                                             op.getCache(), op.getEvict());
    return success();
  }
};

struct ExpandBlockPointers : tt::impl::ExpandBlockPointersBase<ExpandBlockPointers> {
  void runOnOperation() final {
    BlockPointerExpansion expansion;
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandMake, ExpandAdvance, ExpandLoad, ExpandStore>(expansion, &getContext());
    if (failed(tt::expandTypes(getOperation(), expansion, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
