// The built-in dot.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Dot.h"

#include "artifact/TargetInfo.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"

namespace nereid::sema {

Value zeroTile(const CallSite &site, const Type &type) {
  mlir::OpBuilder &builder = builderOf(site);
  auto zero = builder.getZeroAttr(type.toMlir(builder.getContext()));
  return Value::tensor(mlir::arith::ConstantOp::create(builder, locationOf(site), zero), type);
}

std::optional<Value> tileArgument(const CallSite &site, llvm::StringRef parameter) {
  const Value &value = site[parameter];
  if (value.isPoison())
    return std::nullopt;
  const TensorValue *tensor = value.tensor();
  if (tensor && tensor->type.isTile() && !tensor->type.isPointer)
    return value;
  site.emitter.error(diag::DotOperand, site.rangeOf(parameter), site.builtin.name, parameter,
                     tensor ? tensor->type.str() : value.kindName());
  return std::nullopt;
}

bool checkAccumulator(const CallSite &site, const Value &acc, const Type &type) {
  if (acc.tensor() && acc.tensor()->type.withLayout({}) == type.withLayout({})) // layouts are the op's rule
    return true;
  if (!acc.isPoison())
    site.emitter.error(diag::DotAccumulator, site.rangeOf("acc"), type.str(),
                       acc.tensor() ? acc.tensor()->type.str() : acc.kindName());
  return false;
}

bool checkDotElements(const CallSite &site, Scalar a, Scalar b, llvm::StringRef left, llvm::StringRef right) {
  TtFunctionEmitter &emitter = site.emitter;
  if (isFp8(a) && isFp8(b))
    return true;
  for (auto [scalar, name] : {std::pair(a, left), std::pair(b, right)}) {
    const bool isKnown = isFloating(scalar) || scalar == Scalar::Int8 || scalar == Scalar::UInt8;
    if (isKnown)
      continue;
    emitter.error(diag::DotDtype, site.rangeOf(name), name == left ? "lhs" : "rhs", abbreviationOf(scalar));
    return false;
  }
  if (a != b) {
    emitter.error(diag::DotDtypes, site.range, abbreviationOf(a), abbreviationOf(b));
    return false;
  }
  if (a == Scalar::UInt8) {
    emitter.error(diag::DotUnsigned, site.range, abbreviationOf(a));
    return false;
  }
  return true;
}

static std::string defaultPrecisionName(const CallSite &site) {
  const std::string &name = site.emitter.module.options.inputPrecision;
  return name.empty() ? std::string(artifact::targetInfo(site.emitter.module.target.backend).dotPrecision) : name;
}

static std::optional<tt::InputPrecision> precisionNamed(const CallSite &site, const std::string &name,
                                                        SourceRange range) {
  if (std::optional<tt::InputPrecision> precision = tt::symbolizeInputPrecision(name))
    return precision;
  site.emitter.error(diag::DotPrecision, range, name);
  return std::nullopt;
}

std::optional<tt::InputPrecision> defaultPrecision(const CallSite &site) {
  return precisionNamed(site, defaultPrecisionName(site), site.range);
}

namespace {

std::optional<tt::InputPrecision> precisionArgument(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  const bool isNamed = !site["input_precision"].isNone();
  if (isNamed && !site["allow_tf32"].isNone()) {
    emitter.error(diag::DotPrecisionTwice, site.range);
    return std::nullopt;
  }
  std::string name = defaultPrecisionName(site);
  SourceRange range = site.range;
  if (isNamed) {
    range = site.rangeOf("input_precision");
    auto precision = emitter.constantString(site["input_precision"], range, "input_precision");
    if (!precision)
      return std::nullopt;
    name = llvm::StringRef(*precision).lower();
  } else if (!site["allow_tf32"].isNone()) {
    auto allows = boolArgument(site, "allow_tf32");
    if (!allows)
      return std::nullopt;
    if (!*allows)
      name = "ieee";
  }
  return precisionNamed(site, name, range);
}

/// The element type of the result; nothing after an error.
std::optional<Scalar> resultScalar(const CallSite &site, Scalar operand) {
  std::optional<Scalar> wanted;
  if (!site["out_dtype"].isNone()) {
    auto type = typeArgument(site, "out_dtype");
    if (!type)
      return std::nullopt;
    wanted = type->scalar;
  }
  if (operand == Scalar::Int8)
    return Scalar::Int32;
  if (wanted == Scalar::BFloat16) {
    site.emitter.error(diag::DotOutBfloat16, site.rangeOf("out_dtype"));
    return std::nullopt;
  }
  if (operand == Scalar::BFloat16 || operand == Scalar::Float32 || operand == Scalar::Float64)
    return operand == Scalar::Float64 ? Scalar::Float64 : Scalar::Float32;
  if (!wanted && site["acc"].tensor())
    wanted = site["acc"].tensor()->type.scalar;
  if (!wanted || wanted == Scalar::Float16 || wanted == Scalar::Float32)
    return wanted.value_or(Scalar::Float32);
  site.emitter.error(diag::DotOutType, site["out_dtype"].isNone() ? site.rangeOf("acc") : site.rangeOf("out_dtype"),
                     abbreviationOf(*wanted), abbreviationOf(operand));
  return std::nullopt;
}

static bool accumulatesImprecisely(const support::TargetSpec &target) {
  const std::string_view arch = artifact::targetInfo(target.backend).impreciseFp8Arch;
  return !arch.empty() && target.arch == arch;
}

std::optional<int64_t> impreciseCount(const CallSite &site, bool areFp8, int64_t depth) {
  TtFunctionEmitter &emitter = site.emitter;
  constexpr int64_t most = int64_t{1} << 30;
  const support::TargetSpec &target = emitter.module.target;
  if (site["max_num_imprecise_acc"].isNone())
    return areFp8 && accumulatesImprecisely(target) ? most : 0;
  const SourceRange range = site.rangeOf("max_num_imprecise_acc");
  auto count = intArgument(site, "max_num_imprecise_acc");
  if (!count || !areFp8)
    return count ? std::optional<int64_t>(0) : std::nullopt;
  if (*count > depth) {
    emitter.error(diag::DotImpreciseAcc, range, *count, depth);
    return std::nullopt;
  }
  return *count < 0 ? 0 : *count;
}

Value reshaped(const CallSite &site, const Value &tile, llvm::ArrayRef<int64_t> shape) {
  const Type type = tile.tensor()->type.withShape(shape);
  if (type == tile.tensor()->type)
    return tile;
  return emitOp<tt::ReshapeOp>(site, type, tile, /*allow_reorder=*/false, /*efficient_layout=*/false);
}

/// Merges all but the last two dimensions into one.
Value flattenBatch(const CallSite &site, const Value &tile) {
  llvm::ArrayRef<int64_t> shape = tile.tensor()->type.shape;
  if (shape.size() <= 3)
    return tile;
  int64_t batch = 1;
  for (int64_t extent : shape.drop_back(2))
    batch *= extent;
  return reshaped(site, tile, {batch, shape[shape.size() - 2], shape.back()});
}

Value emitDot(const CallSite &site) {
  std::optional<Value> a = tileArgument(site, "input"), b = tileArgument(site, "other");
  std::optional<tt::InputPrecision> precision = precisionArgument(site);
  if (!a || !b || !precision)
    return Value::poison();
  const auto isE4b15 = [](const Value &tile) { return tile.tensor()->type.scalar == Scalar::Float8E4B15; };
  if (isE4b15(*a) || isE4b15(*b)) { // no instruction supports it; fp16 holds all its values
    for (std::optional<Value> *operand : {&a, &b})
      if (isFp8((*operand)->tensor()->type.scalar))
        *operand = site.emitter.cast(**operand, Scalar::Float16, site.range);
    if (a->isPoison() || b->isPoison())
      return Value::poison();
  }
  const Type left = a->tensor()->type, right = b->tensor()->type;
  if (!checkDotElements(site, left.scalar, right.scalar, "input", "other"))
    return Value::poison();
  auto shape = tt::dotShape(left.shape, right.shape, reporterOf(site));
  if (failed(shape))
    return Value::poison();
  std::optional<Scalar> scalar = resultScalar(site, left.scalar);
  const bool areFp8 = isFp8(left.scalar) && isFp8(right.scalar);
  std::optional<int64_t> imprecise = impreciseCount(site, areFp8, left.shape.back());
  if (!scalar || !imprecise)
    return Value::poison();
  const Type result = Type(*scalar).withShape(*shape);
  if (!checkTileShape(site.emitter, *shape, site.range))
    return Value::poison();
  const Value acc = site["acc"].isNone() ? zeroTile(site, result) : site["acc"];
  if (!checkAccumulator(site, acc, result))
    return Value::poison();
  const Value flatA = flattenBatch(site, *a), flatB = flattenBatch(site, *b), flatAcc = flattenBatch(site, acc);
  const Value flat = emitOp<tt::DotOp>(site, flatAcc.tensor()->type, flatA, flatB, flatAcc, *precision, *imprecise);
  return reshaped(site, flat, *shape);
}

} // namespace

llvm::ArrayRef<Builtin> dotBuiltins() {
  static const Builtin table[] = {
      {"dot",
       languageModule,
       {{"input"},
        {"other"},
        {"acc", "None"},
        {"input_precision", "None"},
        {"allow_tf32", "None"},
        {"max_num_imprecise_acc", "None"},
        {"out_dtype", "None"}},
       "Matrix product of two tiles, added to `acc` where one is precision.",
       emitDot},
      dotScaledBuiltin(),
  };
  return table;
}

} // namespace nereid::sema
