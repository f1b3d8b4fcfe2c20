// Rewrites tensor descriptors to pointers, and accesses through them to masked loads, stores and atomic accesses.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/tt/StridedBlock.h"
#include "compiler/dialect/tt/TypeName.h"
#include "compiler/passes/tt/Diagnostics.h"
#include "compiler/passes/tt/Passes.h"
#include "compiler/passes/tt/TypeExpansion.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::tt {
#define GEN_PASS_DEF_REWRITEDESCRIPTORS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;
using tt::ExpansionPattern;

namespace {
/// The values that represent a descriptor, in the order of the plain launch ABI.
struct DescriptorFields {
  ValueRange all;
  size_t rank;

  explicit DescriptorFields(ValueRange all) : all(all), rank((all.size() - 3) / 2) {}
  Value base() const { return all.front(); }
  ValueRange shape() const { return all.slice(1, rank); }
  ValueRange strides() const { return all.slice(1 + rank, rank); }
  Value padsWithNan() const { return all[1 + 2 * rank]; }
  Value roundsToTf32() const { return all[2 + 2 * rank]; }
};

struct DescriptorExpansion : TypeConverter {
  DescriptorExpansion() {
    addConversion([](Type type) { return type; });
    addConversion([](tt::TensorDescType type, SmallVectorImpl<Type> &fields) -> std::optional<LogicalResult> {
      Builder builder(type.getContext());
      fields.push_back(tt::PointerType::get(type.getTileType().getElementType()));
      fields.append(2 * type.getBlockType().getRank(), builder.getI64Type());
      fields.append(2, builder.getI1Type());
      return success();
    });
  }
};

//--- Addresses -------------------------------------------------------------------------------

struct DescriptorAccess {
  Value pointers, inside;
};

Value widened(OpBuilder &builder, Location loc, Value value) {
  return arith::ExtSIOp::create(builder, loc, tt::withElement(value.getType(), builder.getI64Type()), value);
}

DescriptorAccess accessTo(OpBuilder &builder, Location loc, const DescriptorFields &fields,
                          ArrayRef<Value> coordinates) {
  tt::StridedBlock block{fields.base(), {}, {}, {}};
  block.shape.append(fields.shape().begin(), fields.shape().end());
  block.strides.append(fields.strides().begin(), fields.strides().end());
  block.strides.back() = arith::ConstantIntOp::create(builder, loc, 1, 64); // in every descriptor
  block.coordinates.append(coordinates.begin(), coordinates.end());
  const auto dims = llvm::to_vector(llvm::seq<int64_t>(0, coordinates.size()));
  return {tt::pointersOf(builder, loc, block), tt::insideOf(builder, loc, block, dims)};
}

/// The access to the tile that begins at the indices.
DescriptorAccess blockAt(OpBuilder &builder, Location loc, tt::TensorDescType type, const DescriptorFields &fields,
                         ArrayRef<Value> indices) {
  SmallVector<Value> coordinates;
  for (auto [index, extent] : llvm::zip_equal(indices, type.getBlockType().getShape()))
    coordinates.push_back(tt::coordinatesFrom(builder, loc, widened(builder, loc, index), extent));
  return accessTo(builder, loc, fields, coordinates);
}

/// One row for each index, starting at a column.
DescriptorAccess rowsAt(OpBuilder &builder, Location loc, tt::TensorDescType type, const DescriptorFields &fields,
                        Value rows, Value column) {
  Value columns = tt::coordinatesFrom(builder, loc, widened(builder, loc, column), type.getBlockType().getDimSize(1));
  return accessTo(builder, loc, fields, {widened(builder, loc, rows), columns});
}

template <typename Op>
DescriptorAccess accessOf(OpBuilder &builder, Op op, typename ExpansionPattern<Op>::Adaptor adaptor) {
  const DescriptorFields fields(adaptor.getDesc());
  const tt::TensorDescType type = op.getDesc().getType();
  if constexpr (llvm::is_one_of<Op, tt::DescriptorGatherOp, tt::DescriptorScatterOp>::value)
    return rowsAt(builder, op.getLoc(), type, fields, op.getXOffsets(), op.getYOffset());
  else
    return blockAt(builder, op.getLoc(), type, fields, tt::flattenValues(adaptor.getIndices()));
}

//--- Reads -----------------------------------------------------------------------------------

/// The value outside of the array: zero, or NaN where the descriptor is set to it.
Value paddingOf(OpBuilder &builder, Location loc, RankedTensorType tile, Value padsWithNan) {
  Type element = tile.getElementType();
  Value zero = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(element)));
  if (auto type = dyn_cast<FloatType>(element)) {
    Value nan =
        arith::ConstantOp::create(builder, loc, FloatAttr::get(type, APFloat::getNaN(type.getFloatSemantics())));
    zero = arith::SelectOp::create(builder, loc, padsWithNan, nan, zero);
  }
  return tt::SplatOp::create(builder, loc, tile, zero);
}

/// Rounds f32 to the ten fraction bits of tf32 where the descriptor is set to it, ties away from zero; infinities and
/// NaN stay.
Value roundedToTf32(OpBuilder &builder, Location loc, Value tile, Value rounds) {
  const auto type = cast<RankedTensorType>(tile.getType());
  if (!type.getElementType().isF32())
    return tile;
  Type bits = tt::withElement(type, builder.getI32Type());
  auto constant = [&](uint32_t number) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(cast<ShapedType>(bits), APInt(32, number)));
  };
  Value raw = tt::BitcastOp::create(builder, loc, bits, tile);
  Value exponent = arith::AndIOp::create(builder, loc, raw, constant(0x7f800000));
  Value isFinite = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, exponent, constant(0x7f800000));
  Value rounded = arith::AndIOp::create(builder, loc, arith::AddIOp::create(builder, loc, raw, constant(0x1000)),
                                        constant(0xffffe000));
  Value wanted = tt::SplatOp::create(builder, loc, tt::i1Like(type), rounds);
  Value changes = arith::AndIOp::create(builder, loc, isFinite, wanted);
  return arith::SelectOp::create(builder, loc, changes, tt::BitcastOp::create(builder, loc, type, rounded), tile);
}

template <typename Op> struct RewriteRead : ExpansionPattern<Op> {
  using ExpansionPattern<Op>::ExpansionPattern;
  LogicalResult matchAndRewrite(Op op, typename RewriteRead::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    const Location loc = op.getLoc();
    const DescriptorFields fields(adaptor.getDesc());
    const DescriptorAccess access = accessOf(rewriter, op, adaptor);
    const auto tile = cast<RankedTensorType>(op.getType());
    auto cache = tt::CacheModifier::NONE;
    auto evict = tt::EvictionPolicy::NORMAL;
    if constexpr (std::is_same_v<Op, tt::DescriptorLoadOp>) {
      cache = op.getCache();
      evict = op.getEvict();
    }
    Value other = paddingOf(rewriter, loc, tile, fields.padsWithNan());
    Value loaded = tt::LoadOp::create(rewriter, loc, tile, access.pointers, access.inside, other, cache, evict, false);
    rewriter.replaceOp(op, roundedToTf32(rewriter, loc, loaded, fields.roundsToTf32()));
    return success();
  }
};

//--- Writes ----------------------------------------------------------------------------------

template <typename Op> struct RewriteWrite : ExpansionPattern<Op> {
  using ExpansionPattern<Op>::ExpansionPattern;
  LogicalResult matchAndRewrite(Op op, typename RewriteWrite::Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    const DescriptorAccess access = accessOf(rewriter, op, adaptor);
    rewriter.replaceOpWithNewOp<tt::StoreOp>(op, access.pointers, adaptor.getSrc().front(), access.inside,
                                             tt::CacheModifier::NONE, tt::EvictionPolicy::NORMAL);
    return success();
  }
};

/// How elements of the descriptor are combined; none where no atomic access does it.
std::optional<tt::RMWOp> combinationOf(tt::DescriptorReduceKind kind, Type element) {
  const bool isFloat = isa<FloatType>(element), isUnsigned = element.isUnsignedInteger();
  switch (kind) {
  case tt::DescriptorReduceKind::ADD:
    return isFloat ? tt::RMWOp::FADD : tt::RMWOp::ADD;
  case tt::DescriptorReduceKind::MIN:
    return isFloat ? std::nullopt : std::optional(isUnsigned ? tt::RMWOp::UMIN : tt::RMWOp::MIN);
  case tt::DescriptorReduceKind::MAX:
    return isFloat ? std::nullopt : std::optional(isUnsigned ? tt::RMWOp::UMAX : tt::RMWOp::MAX);
  case tt::DescriptorReduceKind::AND:
    return tt::RMWOp::AND;
  case tt::DescriptorReduceKind::OR:
    return tt::RMWOp::OR;
  case tt::DescriptorReduceKind::XOR:
    return tt::RMWOp::XOR;
  case tt::DescriptorReduceKind::INC:
  case tt::DescriptorReduceKind::DEC:
    return std::nullopt;
  }
  llvm_unreachable("all kinds are listed");
}

/// Min and max of f16 and bf16 by integer atomics: positive numbers are ordered as integers, negative ones in reverse
/// as unsigned integers.
void combineSmallFloats(OpBuilder &builder, Location loc, bool isMax, const DescriptorAccess &access, Value value) {
  Type bits = tt::withElement(value.getType(), builder.getI16Type());
  Type pointers = tt::withElement(access.pointers.getType(), tt::PointerType::get(builder.getI16Type()));
  Value pattern = tt::BitcastOp::create(builder, loc, bits, value);
  Value pointer = tt::BitcastOp::create(builder, loc, pointers, access.pointers);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(bits));
  for (bool isNegative : {false, true}) {
    const auto order = isNegative ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sge;
    Value mask = arith::CmpIOp::create(builder, loc, order, pattern, zero);
    if (access.inside)
      mask = arith::AndIOp::create(builder, loc, access.inside, mask);
    const tt::RMWOp how =
        isNegative ? (isMax ? tt::RMWOp::UMIN : tt::RMWOp::UMAX) : (isMax ? tt::RMWOp::MAX : tt::RMWOp::MIN);
    tt::AtomicRMWOp::create(builder, loc, bits, how, pointer, pattern, mask, tt::MemSemantic::RELAXED,
                            tt::MemSyncScope::GPU);
  }
}

bool isSmallFloatExtreme(tt::DescriptorReduceKind kind, Type element) {
  return (kind == tt::DescriptorReduceKind::MIN || kind == tt::DescriptorReduceKind::MAX) &&
         isa<Float16Type, BFloat16Type>(element);
}

struct RewriteReduce : ExpansionPattern<tt::DescriptorReduceOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::DescriptorReduceOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    Type element = op.getDesc().getType().getBlockType().getElementType();
    const std::optional<tt::RMWOp> combination = combinationOf(op.getKind(), element);
    const bool isSmallFloat = isSmallFloatExtreme(op.getKind(), element);
    if (!combination && !isSmallFloat)
      return failure(); // reported before the conversion
    const DescriptorAccess access = accessOf(rewriter, op, adaptor);
    Value value = adaptor.getSrc().front();
    if (isSmallFloat)
      combineSmallFloats(rewriter, op.getLoc(), op.getKind() == tt::DescriptorReduceKind::MAX, access, value);
    else
      tt::AtomicRMWOp::create(rewriter, op.getLoc(), value.getType(), *combination, access.pointers, value,
                              access.inside, tt::MemSemantic::RELAXED, tt::MemSyncScope::GPU);
    rewriter.eraseOp(op);
    return success();
  }
};

//--- Descriptors -----------------------------------------------------------------------------

struct RewriteMake : ExpansionPattern<tt::MakeTensorDescOp> {
  using ExpansionPattern::ExpansionPattern;
  LogicalResult matchAndRewrite(tt::MakeTensorDescOp op, Adaptor adaptor,
                                ConversionPatternRewriter &rewriter) const final {
    SmallVector<Value> fields{op.getBase()};
    for (Value extent : op.getShape())
      fields.push_back(widened(rewriter, op.getLoc(), extent));
    llvm::append_range(fields, op.getStrides());
    const bool padsWithNan = op.getPadding() == tt::PaddingOption::PAD_NAN;
    for (bool flag : {padsWithNan, false})
      fields.push_back(arith::ConstantIntOp::create(rewriter, op.getLoc(), flag, 1));
    rewriter.replaceOpWithMultiple(op, {fields});
    return success();
  }
};

/// Reports descriptors that would combine elements in a way that no atomic access supports.
LogicalResult checkReductions(ModuleOp module) {
  const WalkResult result = module.walk([](tt::DescriptorReduceOp op) -> WalkResult {
    Type element = op.getDesc().getType().getBlockType().getElementType();
    if (combinationOf(op.getKind(), element) || isSmallFloatExtreme(op.getKind(), element))
      return WalkResult::advance();
    return tt::report(op.getLoc(), tt::diag::DescriptorAtomic, tt::stringifyDescriptorReduceKind(op.getKind()),
                      tt::userName(element));
  });
  return failure(result.wasInterrupted());
}

/// Sets what holds for every descriptor: its base and its rows are multiples of 16 bytes.
void addAlignment(Type type, MutableArrayRef<DictionaryAttr> fields) {
  auto descriptor = dyn_cast<tt::TensorDescType>(type);
  if (!descriptor)
    return;
  Builder builder(type.getContext());
  auto divisible = [&](int64_t by) {
    return builder.getDictionaryAttr(builder.getNamedAttr("tt.divisibility", builder.getI32IntegerAttr(by)));
  };
  const auto rank = static_cast<size_t>(descriptor.getBlockType().getRank());
  const unsigned bytes = tt::storageBytes(descriptor.getBlockType().getElementType());
  fields[0] = divisible(16);
  for (size_t dim = 0; dim + 1 < rank; ++dim)
    fields[1 + rank + dim] = divisible(16 / bytes);
}

struct RewriteDescriptors : tt::impl::RewriteDescriptorsBase<RewriteDescriptors> {
  void runOnOperation() final {
    if (failed(checkReductions(getOperation())))
      return signalPassFailure();
    DescriptorExpansion expansion;
    RewritePatternSet patterns(&getContext());
    patterns.add<RewriteMake, RewriteRead<tt::DescriptorLoadOp>, RewriteRead<tt::DescriptorGatherOp>,
                 RewriteWrite<tt::DescriptorStoreOp>, RewriteWrite<tt::DescriptorScatterOp>, RewriteReduce>(
        expansion, &getContext());
    if (failed(tt::expandTypes(getOperation(), expansion, std::move(patterns), addAlignment)))
      signalPassFailure();
  }
};
} // namespace
