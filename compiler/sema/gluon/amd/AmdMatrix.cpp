// Gluon's built-ins for matrix instructions of AMD's GPUs: mfma, mfma_scaled, wmma, and upcasts by scales.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Dot.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/amd/AmdArguments.h"
#include "compiler/target/amd/dialect/Dialect.h"

namespace nereid::sema {
namespace {

//--- layouts -------------------------------------------------------------------------------

/// The accumulator's layout as `Attr`; null after an error. `wanted` names it.
template <typename Attr> Attr accumulatorLayout(const CallSite &site, llvm::StringRef wanted) {
  const std::optional<Value> acc = tileArgument(site, "acc");
  if (!acc)
    return {};
  if (auto layout = llvm::dyn_cast_or_null<Attr>(acc->tensor()->type.layout))
    return layout;
  site.emitter.error(diag::MatrixLayout, site.rangeOf("acc"), site.builtin.name, wanted,
                     layoutText(acc->tensor()->type.layout));
  return {};
}

/// The operand, whose layout must be that of an operand of the accumulator; nothing after an error.
std::optional<Value> operandOf(const CallSite &site, llvm::StringRef parameter, unsigned number,
                               mlir::Attribute accumulator) {
  const std::optional<Value> tile = tileArgument(site, parameter);
  if (!tile)
    return std::nullopt;
  const mlir::Attribute layout = tile->tensor()->type.layout;
  auto operand = llvm::dyn_cast<ttg::DotOperandAttr>(layout);
  if (operand && operand.getOpIdx() == number && operand.getParent() == accumulator)
    return tile;
  const unsigned width = operand ? operand.getKWidth() : 128 / std::max(8u, tile->tensor()->type.bits());
  site.emitter.error(diag::MatrixOperandLayout, site.rangeOf(parameter), parameter, site.builtin.name,
                     layoutText(layout),
                     layoutText(ttg::DotOperandAttr::get(accumulator.getContext(), number,
                                                         llvm::cast<ttg::LayoutEncoding>(accumulator), width)));
  return std::nullopt;
}

//--- mfma and wmma -------------------------------------------------------------------------

/// What products of such elements are added to: f32 and, for wmma, f16; f64 of f64, int32 of int8.
bool addsTo(Scalar operand, Scalar accumulator, bool isWmma) {
  if (operand == Scalar::Float64)
    return accumulator == Scalar::Float64;
  if (!isFloating(operand))
    return accumulator == Scalar::Int32;
  return accumulator == Scalar::Float32 ||
         (isWmma && bitsOf(operand) == 16 && (accumulator == operand || accumulator == Scalar::Float16));
}

llvm::StringRef sumOf(Scalar operand) {
  return operand == Scalar::Float64 ? "fp64" : isFloating(operand) ? "fp32" : "int32";
}

Value emitProduct(const CallSite &site, mlir::Attribute layout, bool isWmma) {
  const std::optional<Value> a = operandOf(site, "a", 0, layout), b = operandOf(site, "b", 1, layout);
  const std::optional<tt::InputPrecision> precision = defaultPrecision(site);
  if (!a || !b || !precision)
    return Value::poison();
  const Type left = a->tensor()->type, right = b->tensor()->type, acc = site["acc"].tensor()->type;
  if (!checkDotElements(site, left.scalar, right.scalar, "a", "b"))
    return Value::poison();
  auto shape = tt::dotShape(left.shape, right.shape, reporterOf(site));
  if (failed(shape) || !checkAccumulator(site, site["acc"], Type(acc.scalar).withShape(*shape)))
    return Value::poison();
  if (!addsTo(left.scalar, acc.scalar, isWmma))
    return site.emitter.error(diag::MatrixAccumulator, site.rangeOf("acc"), site.builtin.name,
                              abbreviationOf(acc.scalar), abbreviationOf(left.scalar), sumOf(left.scalar));
  return emitOp<tt::DotOp>(site, acc, *a, *b, site["acc"], *precision, /*maxNumImpreciseAcc=*/0);
}

Value emitMfma(const CallSite &site) {
  auto layout = checkAmd(site) ? accumulatorLayout<ttg::AmdMfmaAttr>(site, "AMDMFMALayout") : ttg::AmdMfmaAttr();
  return layout ? emitProduct(site, layout, /*isWmma=*/false) : Value::poison();
}

template <unsigned version> Value emitWmma(const CallSite &site) {
  const std::string wanted = "AMDWMMALayout of version " + std::to_string(version);
  auto layout = checkAmd(site) ? accumulatorLayout<ttg::AmdWmmaAttr>(site, wanted) : ttg::AmdWmmaAttr();
  if (!layout)
    return Value::poison();
  if (layout.getVersion() != version)
    return site.emitter.error(diag::MatrixLayout, site.rangeOf("acc"), site.builtin.name, wanted, layoutText(layout));
  return emitProduct(site, layout, /*isWmma=*/true);
}

//--- scaled --------------------------------------------------------------------------------

constexpr ScaledOperandNames scaledLeft{"a", "a_scale", "a_format", "", 1},
    scaledRight{"b", "b_scale", "b_format", "", 2};

/// The side with a tile of scales, also where the call gives one scale or none; false after an error.
bool fillScales(const CallSite &site, ScaledOperand &side, unsigned number, llvm::StringRef parameter,
                ttg::AmdMfmaAttr mfma) {
  constexpr int64_t one = 127, factor = 32; // e8m0
  if (!side.scale.isNone())
    return true;
  const Value &given = site[parameter];
  if (!given.isNone() && !given.integer() && !given.tensor()) {
    site.emitter.error(diag::ScaleValue, site.rangeOf(parameter), parameter, given.repr());
    return false;
  }
  llvm::SmallVector<int64_t, 4> shape = side.tile.tensor()->type.shape;
  shape[shape.size() - 2] = side.outer;
  shape[shape.size() - 1] = side.depth / factor;
  const auto layout = ttg::LinearAttr::get(mfma.getContext(), mfma.scaleLayout(number, shape));
  const Value scalar =
      site.emitter.cast(given.isNone() ? Value::integer(one) : given, Scalar::UInt8, site.rangeOf(parameter));
  if (!scalar.isPoison())
    side.scale = site.emitter.broadcastTo(scalar, shape, site.range, layout);
  side.factor = factor;
  return !scalar.isPoison() && !side.scale.isPoison();
}

Value emitMfmaScaled(const CallSite &site) {
  auto layout = checkAmd(site) ? accumulatorLayout<ttg::AmdMfmaAttr>(site, "AMDMFMALayout") : ttg::AmdMfmaAttr();
  if (!layout || !operandOf(site, "a", 0, layout) || !operandOf(site, "b", 1, layout))
    return Value::poison();
  std::optional<ScaledOperand> left = scaledOperand(site, scaledLeft), right = scaledOperand(site, scaledRight);
  if (!left || !right || !agreeInDepth(site, *left, *right) || !fillScales(site, *left, 0, "a_scale", layout) ||
      !fillScales(site, *right, 1, "b_scale", layout))
    return Value::poison();
  return emitScaledDot(site, *left, *right, /*isFast=*/false);
}

//--- layouts as results --------------------------------------------------------------------

Value emitScaleLayout(const CallSite &site) {
  auto shape = intsArgument(site, "shape");
  auto factor = intArgument(site, "scale_factor");
  auto error = [&](std::string message) {
    site.emitter.error(diag::LayoutInvalid, site.range, site.builtin.name.str() + ": " + message);
  };
  if (!shape || !factor || site["dot_operand_layout"].isPoison())
    return Value::poison();
  return amdScaleLayout(builderOf(site).getContext(), site["dot_operand_layout"], *shape, *factor, error);
}

Value emitPaddedFor(const CallSite &site) {
  auto shape = intsArgument(site, "shape");
  auto element = typeArgument(site, "dtype");
  auto isKContiguous = boolArgument(site, "is_k_contig");
  auto error = [&](std::string message) {
    site.emitter.error(diag::LayoutInvalid, site.range, site.builtin.name.str() + ": " + message);
  };
  if (!shape || !element || !isKContiguous || site["dot_operand_layout"].isPoison())
    return Value::poison();
  return amdPaddedLayout(builderOf(site).getContext(), site["dot_operand_layout"], *shape, element->bits(),
                         *isKContiguous, error);
}

//--- upcasts -------------------------------------------------------------------------------

/// The scale of e8m0 as a bf16 of the same exponent; poison after an error.
Value scaleAsFloat(const CallSite &site) {
  const std::optional<Value> scale = tileArgument(site, "scale");
  if (!scale)
    return Value::poison();
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("scale");
  const Type type = scale->tensor()->type;
  if (type.scalar != Scalar::UInt8 && type.scalar != Scalar::Int8)
    return emitter.error(diag::UpcastType, range,
                         "Expected scale to use raw E8M0 payload in int8/uint8 but got " +
                             abbreviationOf(type.scalar).str());
  const Value bytes = type.scalar == Scalar::Int8 ? emitter.bitcast(*scale, Scalar::UInt8, range) : *scale;
  const Value bits = emitter.binary(syntax::BinaryOperator::LeftShift, emitter.cast(bytes, Scalar::UInt16, range),
                                    emitter.constantOf(Value::integer(7), Scalar::UInt16, range), range, range);
  return bits.isPoison() ? bits : emitter.bitcast(bits, Scalar::BFloat16, range);
}

Value emitScaledUpcast(const CallSite &site) {
  if (!checkAmd(site))
    return Value::poison();
  const std::optional<Value> source = tileArgument(site, "src");
  const std::optional<Type> element = typeArgument(site, "elem_type");
  const Value scale = source && element ? scaleAsFloat(site) : Value::poison();
  if (scale.isPoison())
    return scale;
  auto fail = [&](llvm::StringRef parameter, const std::string &text) {
    return site.emitter.error(diag::UpcastType, site.rangeOf(parameter), text);
  };
  if (*element != Type(Scalar::Float16) && *element != Type(Scalar::BFloat16))
    return fail("elem_type", "Expected elem_type to be fp16 or bf16 but got " + element->str());
  const Type type = source->tensor()->type, result = scale.tensor()->type.withScalar(element->scalar);
  const bool isFp8 = type.scalar == Scalar::Float8E4NV || type.scalar == Scalar::Float8E5;
  if (!isFp8 && type.scalar != Scalar::UInt8 && type.scalar != Scalar::Int8)
    return fail("src",
                "Expected packed fp4 input in int8/uint8 or fp8 input, but got " + abbreviationOf(type.scalar).str());
  if (isFp8 && !site["axis"].isNone())
    return fail("axis", "axis must be None for fp8 scaled_upcast");
  if (!isFp8 && site["axis"].isNone())
    return fail("axis", "axis is required for packed fp4 scaled_upcast");
  if (isFp8 && (type.shape != result.shape || type.layout != result.layout))
    return fail("scale", "scales are " + shapeText(result.shape) + " in " + layoutText(result.layout) +
                             ", the values " + shapeText(type.shape) + " in " + layoutText(type.layout) +
                             "; they need one shape and layout");
  if (isFp8)
    return emitOp<amdg::ScaledUpcastFp8Op>(site, result, *source, scale);
  const auto given = intArgument(site, "axis");
  const auto axis = given ? checkAxis(site.emitter, *given, type.shape.size(), site.rangeOf("axis")) : std::nullopt;
  if (!axis)
    return Value::poison();
  llvm::SmallVector<int64_t, 4> shape = type.shape;
  shape[*axis] *= 2;
  if (result.shape != shape)
    return fail("scale", "Expected scale shape for scaled_upcast to match output shape: " + shapeText(shape) +
                             ", but got " + shapeText(result.shape));
  auto upcast =
      amdg::ScaledUpcastFp4Op::create(builderOf(site), locationOf(site), result.toMlir(builderOf(site).getContext()),
                                      irValue(*source), irValue(scale), int32_t(*axis));
  return Value::tensor(upcast.getResult(), result);
}

//--- parts ---------------------------------------------------------------------------------

Value emitSlice(const CallSite &site) {
  const std::optional<Value> source = checkAmd(site) ? tileArgument(site, "source") : std::nullopt;
  auto shape = source ? intsArgument(site, "shape") : std::nullopt;
  auto offsets = shape ? intsArgument(site, "offsets") : std::nullopt;
  if (!offsets || !checkTileShape(site.emitter, *shape, site.rangeOf("shape")))
    return Value::poison();
  const Type type = source->tensor()->type.withShape(*shape).withLayout(source->tensor()->type.layout);
  auto part = amdg::ExtractSliceOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()),
                                           irValue(*source), *offsets);
  return Value::tensor(part.getResult(), type);
}

} // namespace

llvm::ArrayRef<Builtin> gluonAmdMatrixBuiltins() {
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> all;
    for (llvm::StringRef module : {cdna3Module, cdna4Module}) {
      all.push_back({"mfma",
                     module,
                     {{"a"}, {"b"}, {"acc"}},
                     "a * b + acc by CDNA's matrix instructions; `acc` is in an AMDMFMALayout.",
                     emitMfma});
      all.push_back({"scaled_upcast",
                     module,
                     {{"src"}, {"scale"}, {"elem_type"}, {"axis", "None"}},
                     "fp8, or e2m1 packed along `axis`, as fp16 or bf16, times scales in e8m0.",
                     emitScaledUpcast});
    }
    all.push_back({"mfma_scaled",
                   cdna4Module,
                   {{"a"}, {"a_scale"}, {"a_format"}, {"b"}, {"b_scale"}, {"b_format"}, {"acc"}},
                   "a * a_scale times b * b_scale, added to `acc`, of e2m1, e4m3 and e5m2 in any pair.",
                   emitMfmaScaled});
    all.push_back({"get_mfma_scale_layout",
                   cdna4Module,
                   {{"dot_operand_layout"}, {"shape"}, {"scale_factor", "32"}},
                   "The layout of a tile of scales for an operand of `mfma_scaled`.",
                   emitScaleLayout});
    all.push_back(
        {"wmma", rdna3Module, {{"a"}, {"b"}, {"acc"}}, "a * b + acc by RDNA 3's matrix instructions.", emitWmma<1>});
    all.push_back(
        {"wmma", rdna4Module, {{"a"}, {"b"}, {"acc"}}, "a * b + acc by RDNA 4's matrix instructions.", emitWmma<2>});
    all.push_back({"slice",
                   amdModule,
                   {{"source"}, {"shape"}, {"offsets"}},
                   "A part of a tile that every thread has in its own registers.",
                   emitSlice});
    return all;
  }();
  return table;
}

} // namespace nereid::sema
