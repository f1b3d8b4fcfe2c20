// Turns pointers to tiles into addresses: base, shape, strides and offsets go where the pointer went.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/Passes.h"

#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace nereid::tt {
#define GEN_PASS_DEF_EXPANDBLOCKPOINTERS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;

/// The tile that `type` points to; null for any other type.
static RankedTensorType tileBehind(Type type) {
  auto pointer = dyn_cast<tt::PointerType>(type);
  return pointer ? dyn_cast<RankedTensorType>(pointer.getPointee()) : RankedTensorType();
}

namespace {
/// The values that stand for a pointer to a tile.
struct Parts {
  ValueRange all;
  size_t rank;

  explicit Parts(ValueRange all) : all(all), rank((all.size() - 1) / 3) {}
  Value base() const { return all.front(); }
  ValueRange shape() const { return all.slice(1, rank); }
  ValueRange strides() const { return all.slice(1 + rank, rank); }
  ValueRange offsets() const { return all.slice(1 + 2 * rank, rank); }
};

struct Expansion : TypeConverter {
  Expansion() {
    addConversion([](Type type) { return type; });
    addConversion([](tt::PointerType type, SmallVectorImpl<Type> &parts) -> std::optional<LogicalResult> {
      auto tile = tileBehind(type);
      if (!tile)
        return std::nullopt;
      Builder builder(type.getContext());
      parts.push_back(tt::elementPointer(type));
      parts.append(2 * tile.getRank(), builder.getI64Type());
      parts.append(tile.getRank(), builder.getI32Type());
      return success();
    });
  }
};

/// Writes what an access through a pointer to a tile needs.
class Addresses {
public:
  Addresses(OpBuilder &builder, Location loc, RankedTensorType tile, ValueRange parts)
      : builder(builder), loc(loc), tile(tile), parts(parts) {
    for (int64_t dim = 0; dim < tile.getRank(); ++dim)
      indices.push_back(index(dim));
  }

  Value pointers() {
    const Type elements = tile.clone(parts.base().getType());
    Value result = tt::SplatOp::create(builder, loc, elements, parts.base());
    for (auto [dim, at] : llvm::enumerate(indices)) {
      Value stride = tt::SplatOp::create(builder, loc, at.getType(), parts.strides()[dim]);
      Value elements64 = arith::MulIOp::create(builder, loc, at, stride);
      result = tt::AddPtrOp::create(builder, loc, elements, result, spread(elements64));
    }
    return result;
  }

  /// Where each checked dimension's index is inside of the array; null without one.
  Value mask(ArrayRef<int32_t> dims) {
    Value result;
    auto also = [&](arith::CmpIPredicate predicate, int64_t dim, Value bound) {
      Value limit = tt::SplatOp::create(builder, loc, indices[dim].getType(), bound);
      Value inside = spread(arith::CmpIOp::create(builder, loc, predicate, indices[dim], limit));
      result = result ? arith::AndIOp::create(builder, loc, result, inside).getResult() : inside;
    };
    for (int32_t dim : dims) {
      also(arith::CmpIPredicate::sge, dim, arith::ConstantIntOp::create(builder, loc, 0, 64));
      also(arith::CmpIPredicate::slt, dim, parts.shape()[dim]);
    }
    return result;
  }

private:
  /// offset + [0, extent) along one dimension, the others of extent 1.
  Value index(int64_t dim) {
    const int64_t extent = tile.getDimSize(dim);
    auto line = [&](Type element) { return RankedTensorType::get({extent}, element); };
    Value steps = tt::MakeRangeOp::create(builder, loc, line(builder.getI32Type()), 0, extent);
    steps = arith::ExtSIOp::create(builder, loc, line(builder.getI64Type()), steps);
    Value offset = arith::ExtSIOp::create(builder, loc, builder.getI64Type(), parts.offsets()[dim]);
    Value sum = arith::AddIOp::create(builder, loc, tt::SplatOp::create(builder, loc, steps.getType(), offset), steps);
    SmallVector<int64_t> shape{extent};
    for (int64_t other = 0; other < tile.getRank(); ++other) {
      if (other == dim)
        continue;
      const int64_t at = other < dim ? 0 : shape.size();
      shape.insert(shape.begin() + at, 1);
      sum = tt::ExpandDimsOp::create(builder, loc, RankedTensorType::get(shape, builder.getI64Type()), sum, at);
    }
    return sum;
  }

  Value spread(Value value) {
    const Type type = tile.clone(tt::elementOf(value.getType()));
    return type == value.getType() ? value : tt::BroadcastOp::create(builder, loc, type, value).getResult();
  }

  OpBuilder &builder;
  Location loc;
  RankedTensorType tile;
  Parts parts;
  SmallVector<Value> indices;
};

//--- rewrites --------------------------------------------------------------------------------

template <typename Op> struct ExpandBase : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  using Adaptor = typename OpConversionPattern<Op>::OneToNOpAdaptor;
};

template <typename Range> SmallVector<Value> flatten(const Range &ranges) {
  SmallVector<Value> values;
  for (ValueRange range : ranges)
    llvm::append_range(values, range);
  return values;
}

struct ExpandMake : ExpandBase<tt::MakeTensorPtrOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::MakeTensorPtrOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithMultiple(op, {flatten(adaptor.getOperands())});
    return success();
  }
};

struct ExpandAdvance : ExpandBase<tt::AdvanceOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::AdvanceOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const Parts parts(adaptor.getPtr());
    SmallVector<Value> values(parts.all.drop_back(parts.rank));
    for (auto [offset, step] : llvm::zip_equal(parts.offsets(), flatten(adaptor.getOffsets())))
      values.push_back(arith::AddIOp::create(rewriter, op.getLoc(), offset, step));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

/// The dimensions that `boundaryCheck` names.
FailureOr<ArrayRef<int32_t>> checkedDims(Operation *op, int64_t rank) {
  auto dims = op->getAttrOfType<DenseI32ArrayAttr>("boundaryCheck");
  if (!dims)
    return ArrayRef<int32_t>();
  for (int32_t dim : dims.asArrayRef())
    if (dim < 0 || dim >= rank)
      return emitError(op->getLoc()) << "`boundaryCheck` names dimension " << dim << " of a tile of " << rank;
  return dims.asArrayRef();
}

struct ExpandLoad : ExpandBase<tt::LoadOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::LoadOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const RankedTensorType tile = tileBehind(op.getPtr().getType());
    if (!tile || op.getMask())
      return failure();
    auto dims = checkedDims(op, tile.getRank());
    if (failed(dims))
      return failure();
    Addresses addresses(rewriter, op.getLoc(), tile, adaptor.getPtr());
    Value mask = addresses.mask(*dims), other;
    if (auto padding = op->getAttrOfType<IntegerAttr>("padding"); padding && mask)
      other = fill(rewriter, op.getLoc(), tile, padding.getInt() == 2);
    rewriter.replaceOpWithNewOp<tt::LoadOp>(op, op.getType(), addresses.pointers(), mask, other, op.getCache(),
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

struct ExpandStore : ExpandBase<tt::StoreOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::StoreOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    const RankedTensorType tile = tileBehind(op.getPtr().getType());
    if (!tile || op.getMask())
      return failure();
    auto dims = checkedDims(op, tile.getRank());
    if (failed(dims))
      return failure();
    Addresses addresses(rewriter, op.getLoc(), tile, adaptor.getPtr());
    Value mask = addresses.mask(*dims);
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, addresses.pointers(), adaptor.getValue().front(), mask, op.getCache(),
                                             op.getEvict());
    return success();
  }
};

struct ExpandSelect : ExpandBase<arith::SelectOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(arith::SelectOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Value> values;
    for (auto [yes, no] : llvm::zip_equal(adaptor.getTrueValue(), adaptor.getFalseValue()))
      values.push_back(arith::SelectOp::create(rewriter, op.getLoc(), adaptor.getCondition().front(), yes, no));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct ExpandPoison : ExpandBase<ub::PoisonOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(ub::PoisonOp op, Adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertType(op.getType(), types)))
      return failure();
    SmallVector<Value> values;
    for (Type type : types)
      values.push_back(ub::PoisonOp::create(rewriter, op.getLoc(), type));
    rewriter.replaceOpWithMultiple(op, {values});
    return success();
  }
};

struct ExpandReturn : ExpandBase<tt::ReturnOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::ReturnOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    rewriter.replaceOpWithNewOp<tt::ReturnOp>(op, flatten(adaptor.getValues()));
    return success();
  }
};

struct ExpandCall : ExpandBase<tt::CallOp> {
  using ExpandBase::ExpandBase;
  LogicalResult matchAndRewrite(tt::CallOp op, Adaptor adaptor, ConversionPatternRewriter &rewriter) const final {
    SmallVector<Type> types;
    SmallVector<size_t> counts;
    for (Type type : op.getResultTypes()) {
      const size_t before = types.size();
      if (failed(getTypeConverter()->convertType(type, types)))
        return failure();
      counts.push_back(types.size() - before);
    }
    auto call = tt::CallOp::create(rewriter, op.getLoc(), types, op.getCallee(), flatten(adaptor.getArgs()), ArrayAttr(),
                                   ArrayAttr());
    SmallVector<SmallVector<Value>> groups;
    ResultRange left = call.getResults();
    for (size_t count : counts) {
      groups.emplace_back(left.take_front(count));
      left = left.drop_front(count);
    }
    rewriter.replaceOpWithMultiple(op, std::move(groups));
    return success();
  }
};

struct ExpandBlockPointers : tt::impl::ExpandBlockPointersBase<ExpandBlockPointers> {
  void runOnOperation() final {
    auto isAny = [](TypeRange types) { return llvm::any_of(types, [](Type type) { return bool(tileBehind(type)); }); };
    const WalkResult found = getOperation()->walk([&](Operation *op) {
      return isAny(op->getResultTypes()) || isAny(op->getOperandTypes()) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!found.wasInterrupted())
      return;
    Expansion expansion;
    RewritePatternSet patterns(&getContext());
    ConversionTarget target(getContext());
    patterns.add<ExpandMake, ExpandAdvance, ExpandLoad, ExpandStore, ExpandSelect, ExpandPoison, ExpandReturn, ExpandCall>(
        expansion, &getContext());
    populateFunctionOpInterfaceTypeConversionPattern<tt::FuncOp>(patterns, expansion);
    scf::populateSCFStructuralTypeConversionsAndLegality(expansion, patterns, target);
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<tt::FuncOp>(op))
        return expansion.isSignatureLegal(function.getFunctionType()) && expansion.isLegal(&function.getBody());
      return expansion.isLegal(op);
    });
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
