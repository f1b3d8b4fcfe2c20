// Turns products of microscaling formats into products of f32: values decoded and multiplied by their scales.
// SPDX-License-Identifier: MIT
//
// A scale is a power of two, or a float of 8 bits that is multiplied with one of at most 11 significant bits: the scaled
// values are exact in f32. The decoding becomes part of what copies the operands.
#include "compiler/passes/tt/Passes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nereid::tt {
#define GEN_PASS_DEF_DECOMPOSESCALEDDOTS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid::tt;

namespace {
/// Ops on tiles in f32 and i32, at the place of one dot_scaled.
struct Decoder {
  ImplicitLocOpBuilder builder;
  Type f32, i32;

  explicit Decoder(DotScaledOp dot)
      : builder(dot.getLoc(), dot), f32(builder.getF32Type()), i32(builder.getI32Type()) {}

  Value constant(Value like, int64_t number) {
    auto type = cast<RankedTensorType>(withElement(like.getType(), i32));
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, builder.getI32IntegerAttr(number)));
  }
  Value shiftLeft(Value x, int64_t bits) { return arith::ShLIOp::create(builder, x, constant(x, bits)); }
  Value masked(Value x, int64_t bits) { return arith::AndIOp::create(builder, x, constant(x, bits)); }
  Value equals(Value x, int64_t number) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, x, constant(x, number));
  }
  Value asFloat(Value bits) { return BitcastOp::create(builder, withElement(bits.getType(), f32), bits); }
  Value widened(Value bytes) { return arith::ExtUIOp::create(builder, withElement(bytes.getType(), i32), bytes); }

  Value reshaped(Value x, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, elementOf(x.getType()));
    return type == x.getType() ? x : Value(ReshapeOp::create(builder, type, x, false, false));
  }
  /// Every element `count` times in a new dimension behind `dim`.
  Value repeated(Value x, unsigned dim, int64_t count) {
    SmallVector<int64_t> shape(shapeOf(x.getType()));
    shape.insert(shape.begin() + dim + 1, 1);
    Value expanded = ExpandDimsOp::create(builder, RankedTensorType::get(shape, elementOf(x.getType())), x, dim + 1);
    shape[dim + 1] = count;
    return BroadcastOp::create(builder, RankedTensorType::get(shape, elementOf(x.getType())), expanded);
  }
  /// The dimension behind `dim` becomes part of it.
  Value merged(Value x, unsigned dim) {
    SmallVector<int64_t> shape(shapeOf(x.getType()));
    shape[dim] *= shape[dim + 1];
    shape.erase(shape.begin() + dim + 1);
    return reshaped(x, shape);
  }
  Value transposed(Value x) {
    SmallVector<int64_t> shape(shapeOf(x.getType()));
    auto order = llvm::to_vector_of<int32_t>(llvm::seq<size_t>(0, shape.size()));
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    std::swap(order[order.size() - 1], order[order.size() - 2]);
    return TransOp::create(builder, RankedTensorType::get(shape, elementOf(x.getType())), x, order);
  }

  Value nibbles(Value bytes, unsigned dim);
  Value fourBitFloats(Value bytes, unsigned dim);
  Value powersOfTwo(Value codes, bool isFast);
  Value values(Value tile, ScaleDotElemType format, unsigned packedDim);
  Value scales(Value scale, int64_t depth, bool isFast);
};
} // namespace

/// Both halves of every byte, the low one first, neighbours along `dim`.
Value Decoder::nibbles(Value bytes, unsigned dim) {
  Value twice = repeated(widened(bytes), dim, 2);
  ArrayRef<int64_t> shape = shapeOf(twice.getType());
  Value shift = MakeRangeOp::create(builder, RankedTensorType::get({2}, i32), 0, 2);
  shift = shiftLeft(shift, 2);
  SmallVector<int64_t> ones(shape.size(), 1);
  ones[dim + 1] = 2;
  shift = BroadcastOp::create(builder, twice.getType(), reshaped(shift, ones));
  return merged(masked(arith::ShRUIOp::create(builder, twice, shift), 15), dim);
}

/// e2m1: 0, 0.5, then powers of two with one bit behind them.
Value Decoder::fourBitFloats(Value bytes, unsigned dim) {
  Value code = nibbles(bytes, dim), size = masked(code, 7);
  constexpr int64_t halfAsBits = 0x3f000000, oneExponentLess = int64_t{126} << 23;
  Value normal = arith::AddIOp::create(builder, shiftLeft(size, 22), constant(size, oneExponentLess));
  Value bits = arith::SelectOp::create(builder, equals(size, 1), constant(size, halfAsBits), normal);
  bits = arith::SelectOp::create(builder, equals(size, 0), size, bits);
  Value sign = shiftLeft(masked(code, 8), 28);
  return asFloat(arith::OrIOp::create(builder, bits, sign));
}

/// e8m0: 2^(code - 127); the last code is NaN.
Value Decoder::powersOfTwo(Value codes, bool isFast) {
  constexpr int64_t leastAsBits = 0x00400000, nanAsBits = 0x7fc00000;
  Value code = widened(codes), bits = shiftLeft(code, 23);
  bits = arith::SelectOp::create(builder, equals(code, 0), constant(code, leastAsBits), bits);
  if (!isFast)
    bits = arith::SelectOp::create(builder, equals(code, 255), constant(code, nanAsBits), bits);
  return asFloat(bits);
}

Value Decoder::values(Value tile, ScaleDotElemType format, unsigned packedDim) {
  if (format == ScaleDotElemType::E2M1)
    return fourBitFloats(tile, packedDim);
  const Type type = withElement(tile.getType(), f32);
  if (elementOf(tile.getType()).getIntOrFloatBitWidth() == 8)
    return FpToFpOp::create(builder, type, tile, RoundingModeAttr());
  return arith::ExtFOp::create(builder, type, tile);
}

/// One scale for every value: [.., rows, K].
Value Decoder::scales(Value scale, int64_t depth, bool isFast) {
  const Type type = withElement(scale.getType(), f32);
  Value decoded = isa<FloatType>(elementOf(scale.getType()))
                      ? Value(FpToFpOp::create(builder, type, scale, RoundingModeAttr()))
                      : powersOfTwo(scale, isFast);
  const unsigned last = shapeOf(type).size() - 1;
  return merged(repeated(decoded, last, depth / shapeOf(type).back()), last);
}

static void decompose(DotScaledOp dot) {
  Decoder decoder(dot);
  const unsigned rank = shapeOf(dot.getType()).size();
  Value a = decoder.values(dot.getA(), dot.getAElemType(), rank - (dot.getLhsKPack() ? 1 : 2));
  Value b = decoder.values(dot.getB(), dot.getBElemType(), rank - (dot.getRhsKPack() ? 2 : 1));
  const int64_t depth = shapeOf(a.getType()).back();
  if (Value scale = dot.getAScale())
    a = arith::MulFOp::create(decoder.builder, a, decoder.scales(scale, depth, dot.getFastMath()));
  if (Value scale = dot.getBScale())
    b = arith::MulFOp::create(decoder.builder, b,
                              decoder.transposed(decoder.scales(scale, depth, dot.getFastMath())));
  auto product = DotOp::create(decoder.builder, dot.getType(), a, b, dot.getC(), InputPrecision::IEEE, 0);
  dot.getD().replaceAllUsesWith(product.getD());
  dot.erase();
}

namespace {
struct DecomposeScaledDots : nereid::tt::impl::DecomposeScaledDotsBase<DecomposeScaledDots> {
  void runOnOperation() final {
    SmallVector<DotScaledOp> dots;
    getOperation()->walk([&](DotScaledOp dot) { dots.push_back(dot); });
    for (DotScaledOp dot : dots)
      decompose(dot);
  }
};
} // namespace
