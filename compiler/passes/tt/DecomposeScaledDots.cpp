// Decomposes dots of microscaling formats into dots of f32, bf16 or f16: values decoded and multiplied by their scales.
// SPDX-License-Identifier: MIT
//
// A scale is a power of two, or an fp8 number that multiplies values of at most 11 significant bits; so the scaled
// values are exact in f32. The decoding becomes part of the code that copies the operands. With `halves` the type is
// bf16, and f16 where either operand is, as Triton does on GPUs without such instructions: tensor cores support both,
// and scaled values of 8 significant bits are exact in bf16.
#include "compiler/passes/tt/Passes.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace nereid::tt {
#define GEN_PASS_DEF_DECOMPOSESCALEDDOTS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid::tt;

namespace {
/// Emits ops on tiles in f32 and i32, in place of one dot_scaled.
struct Decoder {
  ImplicitLocOpBuilder builder;
  FloatType f32, computed;   ///< `computed`: the operand type of the new dot
  IntegerType i32, bitsType; ///< `bitsType`: an integer as wide as `computed`

  Decoder(DotScaledOp dot, FloatType computed)
      : builder(dot.getLoc(), dot), f32(builder.getF32Type()), computed(computed), i32(builder.getI32Type()),
        bitsType(builder.getIntegerType(computed.getWidth())) {}

  Value constant(Value like, const APInt &bits) {
    auto type = cast<RankedTensorType>(like.getType());
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, bits));
  }
  Value constant(Value like, int64_t number) {
    return constant(like, APInt(elementOf(like.getType()).getIntOrFloatBitWidth(), number));
  }
  Value powerOfTwo(Value like, int exponent) {
    auto type = cast<RankedTensorType>(like.getType());
    const APFloat number = scalbn(APFloat(computed.getFloatSemantics(), 1), exponent, APFloat::rmNearestTiesToEven);
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(type, number));
  }
  Value shiftLeft(Value x, int64_t bits) { return arith::ShLIOp::create(builder, x, constant(x, bits)); }
  Value masked(Value x, int64_t bits) { return arith::AndIOp::create(builder, x, constant(x, bits)); }
  Value equals(Value x, int64_t number) {
    return arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, x, constant(x, number));
  }
  Value asFloat(Value bits, FloatType type) {
    return BitcastOp::create(builder, withElement(bits.getType(), type), bits);
  }
  Value widened(Value bytes, IntegerType type) {
    return arith::ExtUIOp::create(builder, withElement(bytes.getType(), type), bytes);
  }
  /// The number of explicit mantissa bits.
  static int64_t mantissaBits(FloatType type) { return type.getFPMantissaWidth() - 1; }
  Value toComputed(Value tile);

  Value reshaped(Value x, ArrayRef<int64_t> shape) {
    auto type = RankedTensorType::get(shape, elementOf(x.getType()));
    return type == x.getType() ? x : Value(ReshapeOp::create(builder, type, x, false, false));
  }
  /// Repeats every element `count` times in a new dimension after `dim`.
  Value repeated(Value x, unsigned dim, int64_t count) {
    SmallVector<int64_t> shape(shapeOf(x.getType()));
    shape.insert(shape.begin() + dim + 1, 1);
    Value expanded = ExpandDimsOp::create(builder, RankedTensorType::get(shape, elementOf(x.getType())), x, dim + 1);
    shape[dim + 1] = count;
    return BroadcastOp::create(builder, RankedTensorType::get(shape, elementOf(x.getType())), expanded);
  }
  /// Merges the dimension after `dim` into it.
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

/// Unpacks both halves of every byte, the low one first, adjacent along `dim`.
Value Decoder::nibbles(Value bytes, unsigned dim) {
  Value twice = repeated(widened(bytes, bitsType), dim, 2);
  ArrayRef<int64_t> shape = shapeOf(twice.getType());
  Value shift = MakeRangeOp::create(builder, RankedTensorType::get({2}, i32), 0, 2);
  shift = shiftLeft(shift, 2);
  if (bitsType != i32)
    shift = arith::TruncIOp::create(builder, withElement(shift.getType(), bitsType), shift);
  SmallVector<int64_t> ones(shape.size(), 1);
  ones[dim + 1] = 2;
  shift = BroadcastOp::create(builder, twice.getType(), reshaped(shift, ones));
  return merged(masked(arith::ShRUIOp::create(builder, twice, shift), 15), dim);
}

/// e2m1: 0, 0.5, then powers of two with one mantissa bit. In 16 bits the two exponent bits go to the low end of the
/// wider float's exponent. All codes, including those below one, are then too small by the difference of the biases,
/// and the product with that power of two is exact. In f32 the codes 0 and 0.5 are selected separately: CPUs are slow
/// with subnormal floats, or flush them to zero.
Value Decoder::fourBitFloats(Value bytes, unsigned dim) {
  constexpr int64_t ownBias = 1, signBit = 3;
  const int64_t mantissa = mantissaBits(computed), width = computed.getWidth();
  const int64_t biasDifference = APFloat::semanticsMaxExponent(computed.getFloatSemantics()) - ownBias;
  Value code = nibbles(bytes, dim), size = masked(code, 7);
  Value bits = shiftLeft(size, mantissa - 1), sign = shiftLeft(masked(code, 8), width - 1 - signBit);
  if (computed.isF32()) {
    const int64_t oneExponentLess = biasDifference << mantissa;
    Value normal = arith::AddIOp::create(builder, bits, constant(size, oneExponentLess));
    bits = arith::SelectOp::create(builder, equals(size, 1), constant(size, oneExponentLess), normal);
    bits = arith::SelectOp::create(builder, equals(size, 0), size, bits);
    return asFloat(arith::OrIOp::create(builder, bits, sign), computed);
  }
  Value tiny = asFloat(arith::OrIOp::create(builder, bits, sign), computed);
  return arith::MulFOp::create(builder, tiny, powerOfTwo(tiny, biasDifference));
}

/// e8m0: 2^(code - 127); the last code is NaN.
Value Decoder::powersOfTwo(Value codes, bool isFast) {
  const bool isBF16 = computed.isBF16(); // has the range of f32; f16 does not
  FloatType type = isBF16 ? computed : f32;
  const int64_t mantissa = mantissaBits(type), leastAsBits = int64_t{1} << (mantissa - 1);
  const int64_t nanAsBits = (int64_t{255} << mantissa) | leastAsBits;
  Value code = widened(codes, isBF16 ? bitsType : i32), bits = shiftLeft(code, mantissa);
  bits = arith::SelectOp::create(builder, equals(code, 0), constant(code, leastAsBits), bits);
  if (!isFast)
    bits = arith::SelectOp::create(builder, equals(code, 255), constant(code, nanAsBits), bits);
  return toComputed(asFloat(bits, type));
}

/// A tile of any float type in the type `computed`.
Value Decoder::toComputed(Value tile) {
  const Type from = elementOf(tile.getType());
  if (from == computed)
    return tile;
  if (from.getIntOrFloatBitWidth() == 8)
    return FpToFpOp::create(builder, withElement(tile.getType(), computed), tile, RoundingModeAttr());
  if (!from.isF32())
    tile = arith::ExtFOp::create(builder, withElement(tile.getType(), f32), tile);
  return computed.isF32() ? tile
                          : arith::TruncFOp::create(builder, withElement(tile.getType(), computed), tile).getResult();
}

Value Decoder::values(Value tile, ScaleDotElemType format, unsigned packedDim) {
  return format == ScaleDotElemType::E2M1 ? fourBitFloats(tile, packedDim) : toComputed(tile);
}

/// Decodes and repeats the scales, so that there is one per value: [.., rows, K].
Value Decoder::scales(Value scale, int64_t depth, bool isFast) {
  ArrayRef<int64_t> shape = shapeOf(scale.getType());
  Value decoded = isa<FloatType>(elementOf(scale.getType())) ? toComputed(scale) : powersOfTwo(scale, isFast);
  const unsigned last = shape.size() - 1;
  return merged(repeated(decoded, last, depth / shape.back()), last);
}

static FloatType computedType(DotScaledOp dot, bool inHalves) {
  Builder builder(dot.getContext());
  if (!inHalves)
    return builder.getF32Type();
  const bool hasF16 = llvm::is_contained({dot.getAElemType(), dot.getBElemType()}, ScaleDotElemType::FP16);
  return hasF16 ? FloatType(builder.getF16Type()) : FloatType(builder.getBF16Type());
}

static void decompose(DotScaledOp dot, bool inHalves) {
  Decoder decoder(dot, computedType(dot, inHalves));
  const unsigned rank = shapeOf(dot.getType()).size();
  Value a = decoder.values(dot.getA(), dot.getAElemType(), rank - (dot.getLhsKPack() ? 1 : 2));
  Value b = decoder.values(dot.getB(), dot.getBElemType(), rank - (dot.getRhsKPack() ? 2 : 1));
  const int64_t depth = shapeOf(a.getType()).back();
  if (Value scale = dot.getAScale())
    a = arith::MulFOp::create(decoder.builder, a, decoder.scales(scale, depth, dot.getFastMath()));
  if (Value scale = dot.getBScale())
    b = arith::MulFOp::create(decoder.builder, b, decoder.transposed(decoder.scales(scale, depth, dot.getFastMath())));
  auto result = DotOp::create(decoder.builder, dot.getType(), a, b, dot.getC(), InputPrecision::IEEE, 0);
  dot.getD().replaceAllUsesWith(result.getD());
  dot.erase();
}

/// Whether a later pass pads a tile of the dot: there are rules for that of `tt.dot`.
static bool isPadded(DotScaledOp dot) {
  return llvm::any_of(dot->getOperandTypes(), [](Type type) {
    return !llvm::all_of(shapeOf(type), [](int64_t extent) { return llvm::isPowerOf2_64(extent); });
  });
}

namespace {
struct DecomposeScaledDots : nereid::tt::impl::DecomposeScaledDotsBase<DecomposeScaledDots> {
  using DecomposeScaledDotsBase::DecomposeScaledDotsBase;
  void runOnOperation() final {
    SmallVector<DotScaledOp> dots;
    getOperation()->walk([&](DotScaledOp dot) {
      if (!keepsMicroscaled || !dot.isMicroscaled() || isPadded(dot))
        dots.push_back(dot);
    });
    for (DotScaledOp dot : dots)
      decompose(dot, halves);
  }
};
} // namespace
