// Elementwise built-ins: arithmetic, selection, extremes.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/builtins/Math.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace nereid::sema {
namespace {

Value widenBFloat16(const CallSite &site, Value value) {
  if (value.tensor() && value.tensor()->type.element() == Type(Scalar::BFloat16))
    return site.emitter.cast(value, Scalar::Float32, site.range);
  return site.emitter.computable(value, site.range);
}

/// `propagate_nan` as the enum; nothing after an error.
std::optional<tt::PropagateNan> propagateNan(const CallSite &site) {
  const SourceRange range = site.rangeOf("propagate_nan");
  std::optional<int64_t> number = intArgument(site, "propagate_nan");
  if (!number)
    return std::nullopt;
  if (*number == 0)
    return tt::PropagateNan::NONE;
  if (*number == 0xFFFF)
    return tt::PropagateNan::ALL;
  site.emitter.error(diag::PropagateNanUnknown, range, *number);
  return std::nullopt;
}

//--- Arithmetic as functions ---------------------------------------------------------------

template <syntax::BinaryOperator op> Value emitOperator(const CallSite &site) {
  auto checks = boolArgument(site, "sanitize_overflow");
  if (!checks)
    return Value::poison();
  const llvm::SaveAndRestore scope(site.emitter.checksOverflow, *checks);
  return site.emitter.binary(op, site["x"], site["y"], site.range, site.range);
}

//--- Selection and extremes ----------------------------------------------------------------

Value emitWhere(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value condition = tensorArgument(site, "condition");
  if (condition.isPoison())
    return condition;
  if (!condition.tensor()->type.isBool()) {
    emitter.module.diagnostics.report(diag::WhereCondition, emitter.fileRange(site.rangeOf("condition")),
                                      condition.tensor()->type.str());
    condition = emitter.cast(condition, Scalar::Int1, site.rangeOf("condition"));
  }
  Value x = site["x"], y = site["y"];
  if (condition.isPoison() || !emitter.promoteTogether(x, y, site.range, false, /*allowPointers=*/true))
    return Value::poison();
  // A scalar condition selects whole tiles.
  if (condition.tensor()->type.isTile()) {
    Value all[] = {condition, x, y};
    if (!broadcastAll(emitter, all, site.range))
      return Value::poison();
    condition = all[0], x = all[1], y = all[2];
  }
  if (x.tensor()->type != y.tensor()->type)
    return emitter.error(diag::InvalidOperands, site.range, x.tensor()->type.str(), y.tensor()->type.str(), "");
  return emitOp<arith::SelectOp>(site, x.tensor()->type, condition, x, y);
}

/// The four ops of a minimum or maximum.
template <typename Numeric, typename Propagating, typename Signed, typename Unsigned>
Value emitExtreme(const CallSite &site) {
  std::optional<tt::PropagateNan> nan = propagateNan(site);
  Value x = widenBFloat16(site, site["x"]), y = widenBFloat16(site, site["y"]);
  if (!nan || !site.emitter.promoteTogether(x, y, site.range))
    return Value::poison();
  const Type type = x.tensor()->type;
  if (type.isFloat())
    return *nan == tt::PropagateNan::ALL ? emitOp<Propagating>(site, type, x, y) : emitOp<Numeric>(site, type, x, y);
  return isSignedInteger(type.scalar) ? emitOp<Signed>(site, type, x, y) : emitOp<Unsigned>(site, type, x, y);
}

Value emitClamp(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  std::optional<tt::PropagateNan> nan = propagateNan(site);
  Value x = widenBFloat16(site, site["x"]), low = widenBFloat16(site, site["min"]),
        high = widenBFloat16(site, site["max"]);
  if (!nan || !emitter.promoteTogether(low, high, site.range) || !emitter.promoteTogether(x, low, site.range) ||
      !emitter.promoteTogether(x, high, site.range) || !emitter.promoteTogether(x, low, site.range))
    return Value::poison();
  const Type type = x.tensor()->type;
  if (!type.isFloat())
    return emitter.error(diag::ClampType, site.range, type.str());
  return emitOp<tt::ClampFOp>(site, type, x, low, high, *nan);
}

} // namespace

llvm::ArrayRef<Builtin> elementwiseBuiltins() {
  using syntax::BinaryOperator;
  using Params = llvm::SmallVector<BuiltinParam, 4>;
  static const Params arithmetic = {{"x"}, {"y"}, {"sanitize_overflow", "True"}};
  static const Params extreme = {{"x"}, {"y"}, {"propagate_nan", "0"}};
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> entries = {
        {"add", languageModule, arithmetic, "Sum of two values, as `x + y`.", emitOperator<BinaryOperator::Add>},
        {"sub", languageModule, arithmetic, "Difference of two values, as `x - y`.", emitOperator<BinaryOperator::Sub>},
        {"mul", languageModule, arithmetic, "Product of two values, as `x * y`.", emitOperator<BinaryOperator::Mult>},
        {"where",
         languageModule,
         {{"condition"}, {"x"}, {"y"}},
         "x where the condition is true and y elsewhere; both are computed.",
         emitWhere},
        {"minimum", languageModule, extreme, "The smaller of two values; propagate_nan selects how NaNs are treated.",
         emitExtreme<arith::MinNumFOp, arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>},
        {"maximum", languageModule, extreme, "The larger of two values; propagate_nan selects how NaNs are treated.",
         emitExtreme<arith::MaxNumFOp, arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>},
        {"clamp",
         languageModule,
         {{"x"}, {"min"}, {"max"}, {"propagate_nan", "0"}},
         "Floats limited to [min, max].",
         emitClamp},
    };
    appendMath(entries);
    return entries;
  }();
  return table;
}

} // namespace nereid::sema
