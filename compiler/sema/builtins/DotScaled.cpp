// The built-in dot_scaled, which multiplies tiles in microscaling formats.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Dot.h"

#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"

namespace nereid::sema {
namespace {

using tt::ScaleDotElemType;

using Side = ScaledOperand;
using Names = ScaledOperandNames;

constexpr Names leftNames{"lhs", "lhs_scale", "lhs_format", "lhs_k_pack", 1};
constexpr Names rightNames{"rhs", "rhs_scale", "rhs_format", "rhs_k_pack", 2};

/// The float type of a format; none where two values share a byte.
std::optional<Scalar> floatOf(ScaleDotElemType format) {
  switch (format) {
  case ScaleDotElemType::E4M3:
    return Scalar::Float8E4NV;
  case ScaleDotElemType::E5M2:
    return Scalar::Float8E5;
  case ScaleDotElemType::BF16:
    return Scalar::BFloat16;
  case ScaleDotElemType::FP16:
    return Scalar::Float16;
  case ScaleDotElemType::E2M1:
  case ScaleDotElemType::E2M3:
  case ScaleDotElemType::E3M2:
    return std::nullopt;
  }
  llvm_unreachable("all formats are listed");
}

std::optional<ScaleDotElemType> formatArgument(const CallSite &site, llvm::StringRef parameter) {
  auto text = textArgument(site, parameter);
  if (!text)
    return std::nullopt;
  auto format = tt::symbolizeScaleDotElemType(*text);
  if (format && format != ScaleDotElemType::E2M3 && format != ScaleDotElemType::E3M2)
    return format;
  site.emitter.error(diag::DotScaledFormat, site.rangeOf(parameter), parameter, *text);
  return std::nullopt;
}

/// The tile's bits as the float type of the format; false after an error.
bool asFormat(const CallSite &site, const Names &names, Side &side) {
  TtFunctionEmitter &emitter = site.emitter;
  const Scalar given = side.tile.tensor()->type.scalar;
  const std::string format = tt::stringifyScaleDotElemType(side.format).str();
  std::optional<Scalar> wanted = floatOf(side.format);
  if (!wanted) {
    if (given == Scalar::UInt8 || given == Scalar::Int8)
      return true;
    emitter.error(diag::DotScaledPacked, site.rangeOf(names.tile), abbreviationOf(given));
    return false;
  }
  if (given == *wanted)
    return true;
  if (!isInteger(given) || bitsOf(given) != bitsOf(*wanted)) {
    emitter.error(diag::DotScaledDtype, site.rangeOf(names.tile), format, abbreviationOf(given));
    return false;
  }
  side.tile = emitter.bitcast(side.tile, *wanted, site.rangeOf(names.tile));
  return !side.tile.isPoison();
}

/// Computes how many values share a scale; false after an error.
bool measureScale(const CallSite &site, const Names &names, Side &side) {
  const Value &scale = site[names.scale];
  const TensorValue *tensor = scale.tensor();
  const bool isNumber = names.kPack.empty() && scale.isNumber(); // one for all
  if (scale.isNone() || isNumber || (tensor && tensor->type.elementCount() == 1))
    return true;
  const SourceRange range = site.rangeOf(names.scale);
  std::optional<Value> tile = tileArgument(site, names.scale);
  if (!tile)
    return false;
  const Type type = tile->tensor()->type;
  if (type.scalar != Scalar::UInt8 && type.scalar != Scalar::Int8 && type.scalar != Scalar::Float8E4NV) {
    site.emitter.error(diag::DotScaleDtype, range, names.scale, abbreviationOf(type.scalar));
    return false;
  }
  if (failed(tt::checkScale(names.scale, type.shape, side.tile.tensor()->type.shape, side.outer, side.depth,
                            CallReporter(site.emitter, range))))
    return false;
  side.scale = *tile;
  side.factor = side.depth / type.shape.back();
  return true;
}

std::optional<bool> packsAlongK(const CallSite &site, const Names &names) {
  return names.kPack.empty() ? std::optional(true) : boolArgument(site, names.kPack);
}

std::optional<Side> sideOf(const CallSite &site, const Names &names) {
  TtFunctionEmitter &emitter = site.emitter;
  std::optional<Value> tile = tileArgument(site, names.tile);
  auto format = formatArgument(site, names.format);
  auto isKPacked = packsAlongK(site, names);
  if (!tile || !format || !isKPacked)
    return std::nullopt;
  Side side{*tile, {}, *format, *isKPacked};
  llvm::ArrayRef<int64_t> shape = tile->tensor()->type.shape;
  if (shape.size() != 2 && shape.size() != 3) {
    emitter.error(diag::DotScaledRank, site.rangeOf(names.tile), names.tile, shapeText(shape));
    return std::nullopt;
  }
  const bool isPacked = *format == ScaleDotElemType::E2M1;
  if (!*isKPacked && !isPacked) {
    emitter.error(diag::DotScaledKPack, site.rangeOf(names.kPack));
    return std::nullopt;
  }
  side.depth = shape[shape.size() - names.depthFromEnd] * (isPacked && *isKPacked ? 2 : 1);
  side.outer = shape[shape.size() - (3 - names.depthFromEnd)] * (isPacked && !*isKPacked ? 2 : 1);
  if (!asFormat(site, names, side) || !measureScale(site, names, side))
    return std::nullopt;
  return side;
}

/// Checks that both sides agree; false after an error.
bool checkSides(const CallSite &site, const Side &left, const Side &right) {
  TtFunctionEmitter &emitter = site.emitter;
  llvm::ArrayRef<int64_t> a = left.tile.tensor()->type.shape, b = right.tile.tensor()->type.shape;
  if (a.size() != b.size() || (a.size() == 3 && a[0] != b[0]))
    emitter.error(tt::diag::DotBatch, site.range, shapeText(a), shapeText(b));
  else if (left.depth != right.depth)
    emitter.error(diag::DotScaledInner, site.range, shapeText(a), shapeText(b), left.depth, right.depth);
  else if (left.factor && right.factor && left.factor != right.factor)
    emitter.error(diag::DotScaleFactor, site.range, left.factor, right.factor);
  else
    return true;
  return false;
}

Value emitDotScaled(const CallSite &site) {
  std::optional<Side> left = sideOf(site, leftNames), right = sideOf(site, rightNames);
  auto isFast = boolArgument(site, "fast_math");
  std::optional<Type> out = Type(Scalar::Float32);
  if (!site["out_dtype"].isNone())
    out = typeArgument(site, "out_dtype");
  if (!left || !right || !isFast || !out || !checkSides(site, *left, *right))
    return Value::poison();
  if (*out != Type(Scalar::Float32))
    return site.emitter.error(diag::DotScaledOut, site.rangeOf("out_dtype"), out->str());
  return emitScaledDot(site, *left, *right, *isFast);
}

} // namespace

std::optional<ScaledOperand> scaledOperand(const CallSite &site, const ScaledOperandNames &names) {
  return sideOf(site, names);
}

bool agreeInDepth(const CallSite &site, const ScaledOperand &left, const ScaledOperand &right) {
  return checkSides(site, left, right);
}

Value emitScaledDot(const CallSite &site, const ScaledOperand &left, const ScaledOperand &right, bool isFast) {
  llvm::SmallVector<int64_t, 4> shape = left.tile.tensor()->type.shape;
  shape[shape.size() - 2] = left.outer;
  shape[shape.size() - 1] = right.outer;
  const Type type = Type(Scalar::Float32).withShape(shape);
  if (!checkTileShape(site.emitter, shape, site.range))
    return Value::poison();
  const Value acc = site["acc"].isNone() ? zeroTile(site, type) : site["acc"];
  if (!checkAccumulator(site, acc, type))
    return Value::poison();
  return emitOp<tt::DotScaledOp>(site, type, left.tile, right.tile, acc, left.scale, right.scale, left.format,
                                 right.format, isFast, left.isKPacked, right.isKPacked);
}

Builtin dotScaledBuiltin() {
  return {"dot_scaled",
          languageModule,
          {{"lhs"},
           {"lhs_scale"},
           {"lhs_format"},
           {"rhs"},
           {"rhs_scale"},
           {"rhs_format"},
           {"acc", "None"},
           {"fast_math", "False"},
           {"lhs_k_pack", "True"},
           {"rhs_k_pack", "True"},
           {"out_dtype", "None"}},
          "Matrix product of two tiles in microscaling formats, added to `acc` where one is given.",
          emitDotScaled};
}

} // namespace nereid::sema
