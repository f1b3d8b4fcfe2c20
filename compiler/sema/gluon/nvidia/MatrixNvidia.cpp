// Gluon's matrix instructions of NVIDIA GPUs: those of a warp (mma_v2) and of four warps (warpgroup_mma).
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Dot.h"
#include "compiler/sema/gluon/Layouts.h"
#include "compiler/sema/gluon/nvidia/Operands.h"

#include "artifact/TargetInfo.h"

namespace nereid::sema {
namespace {

/// The precision of f32 operands by its name, or the options'; nothing after an error.
std::optional<tt::InputPrecision> precisionOf(const CallSite &site, llvm::StringRef parameter) {
  const auto &module = site.emitter.module;
  std::string name = module.options.inputPrecision;
  if (name.empty())
    name = artifact::targetInfo(module.target.backend).dotPrecision;
  if (!site[parameter].isNone()) {
    auto given = textArgument(site, parameter);
    if (!given)
      return std::nullopt;
    name = llvm::StringRef(*given).lower();
  }
  if (auto precision = tt::symbolizeInputPrecision(name))
    return precision;
  site.emitter.error(diag::DotPrecision, site.rangeOf(parameter), name);
  return std::nullopt;
}

/// The encoding of an accumulator of instructions of that version; null after an error.
ttg::NvidiaMmaAttr accumulatorLayout(const CallSite &site, const Type &type, bool isOfWarpGroups) {
  auto layout = llvm::dyn_cast_or_null<ttg::NvidiaMmaAttr>(type.layout);
  if (layout && layout.isWgmma() == isOfWarpGroups)
    return layout;
  site.emitter.error(diag::AccumulatorLayout, site.rangeOf("acc"), site.builtin.name, isOfWarpGroups ? "3, 0" : "2, 0",
                     type.str());
  return {};
}

//--- mma_v2 --------------------------------------------------------------------------------

bool checkOperandLayout(const CallSite &site, llvm::StringRef parameter, const Type &type, ttg::NvidiaMmaAttr parent,
                        unsigned index) {
  auto layout = llvm::dyn_cast_or_null<ttg::DotOperandAttr>(type.layout);
  if (layout && layout.getParent() == parent && layout.getOpIdx() == index)
    return true;
  site.emitter.error(diag::OperandLayout, site.rangeOf(parameter), parameter, type.str(), index, layoutText(parent));
  return false;
}

Value emitMmaV2(const CallSite &site) {
  if (!checkLanguage(site))
    return Value::poison();
  auto a = tileArgument(site, "a"), b = tileArgument(site, "b"), acc = tileArgument(site, "acc");
  auto precision = precisionOf(site, "input_precision");
  if (!a || !b || !acc || !precision)
    return Value::poison();
  const Type type = acc->tensor()->type;
  const ttg::NvidiaMmaAttr layout = accumulatorLayout(site, type, /*isOfWarpGroups=*/false);
  if (!layout || !checkOperandLayout(site, "a", a->tensor()->type, layout, 0) ||
      !checkOperandLayout(site, "b", b->tensor()->type, layout, 1))
    return Value::poison();
  auto op = tt::DotOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()), irValue(*a),
                              irValue(*b), irValue(*acc), *precision, 0);
  return checkRules(site, op) ? Value::tensor(op, type) : Value::poison();
}

//--- warpgroup_mma -------------------------------------------------------------------------

std::optional<int64_t> impreciseCountOf(const CallSite &site, const Type &a) {
  if (site["max_num_imprecise_acc"].isNone())
    return isFp8(a.scalar) ? int64_t{1} << 30 : 0;
  auto count = intArgument(site, "max_num_imprecise_acc");
  if (!count || !isFp8(a.scalar) || *count <= a.shape.back())
    return count;
  site.emitter.error(diag::DotImpreciseAcc, site.rangeOf("max_num_imprecise_acc"), *count, a.shape.back());
  return std::nullopt;
}

Value emitWarpGroupMma(const CallSite &site) {
  const TensorValue *b = checkLanguage(site) ? bufferArgument(site, "b") : nullptr;
  auto acc = b ? tileArgument(site, "acc") : std::nullopt;
  const bool isBuffer = site["a"].tensor() && site["a"].tensor()->type.isShared();
  const std::optional<Value> a = isBuffer ? std::optional(site["a"]) : acc ? tileArgument(site, "a") : std::nullopt;
  if (!acc || !a || !accumulatorLayout(site, acc->tensor()->type, /*isOfWarpGroups=*/true))
    return Value::poison();
  auto precision = precisionOf(site, "precision");
  auto imprecise = impreciseCountOf(site, a->tensor()->type);
  auto isAsync = boolArgument(site, "is_async");
  const bool always = site["use_acc"].is<bool>() && *site["use_acc"].get<bool>();
  mlir::Value usesAcc = always ? mlir::Value() : scalarArgument(site, "use_acc", Scalar::Int1);
  if (!precision || !imprecise || !isAsync || (!always && !usesAcc))
    return Value::poison();
  const Type type = acc->tensor()->type;
  auto op = ttng::WarpGroupDotOp::create(builderOf(site), locationOf(site), type.toMlir(builderOf(site).getContext()),
                                         irValue(*a), b->value, irValue(*acc), usesAcc, *precision,
                                         uint32_t(*imprecise), *isAsync);
  return checkRules(site, op) ? Value::tensor(op, type) : Value::poison();
}

Value emitAccumulatorInit(const CallSite &site) {
  auto value = checkLanguage(site) ? tileArgument(site, "value") : std::nullopt;
  return value ? *value : Value::poison();
}

/// The values of dots that are done, in the order of `deps`.
Value emitWarpGroupWait(const CallSite &site) {
  auto count = checkLanguage(site) ? intArgument(site, "num_outstanding") : std::nullopt;
  if (!count)
    return Value::poison();
  if (*count < 0 || *count > INT32_MAX)
    return site.emitter.error(diag::OutstandingGroups, site.rangeOf("num_outstanding"), *count);
  if (site["deps"].isNone())
    return site.emitter.error(diag::WaitWithoutDeps, site.range);
  auto deps = site.emitter.elementsOf(site["deps"], site.rangeOf("deps"));
  if (!deps)
    return Value::poison();
  llvm::SmallVector<mlir::Value> inputs;
  for (const Value &dep : *deps) {
    if (dep.isPoison())
      return dep;
    if (!dep.tensor() || dep.tensor()->type.shape.empty())
      return site.emitter.error(diag::WaitDependency, site.rangeOf("deps"), describe(dep));
    inputs.push_back(dep.tensor()->value);
  }
  auto op = ttng::WarpGroupDotWaitOp::create(builderOf(site), locationOf(site), inputs, uint32_t(*count));
  if (!checkRules(site, op))
    return Value::poison();
  std::vector<Value> results;
  for (auto [dep, result] : llvm::zip_equal(*deps, op.getOutputs()))
    results.push_back(Value::tensor(result, dep.tensor()->type));
  return results.size() == 1 ? results.front() : Value::tuple(std::move(results));
}

} // namespace

llvm::ArrayRef<Builtin> gluonNvidiaMatrixBuiltins() {
  static const Builtin table[] = {
      {"mma_v2",
       ampereModule,
       {{"a"}, {"b"}, {"acc"}, {"input_precision", "None"}},
       "a * b + acc by matrix instructions of a warp; operands have DotOperandLayout of acc's layout.",
       emitMmaV2},
      {"warpgroup_mma",
       hopperModule,
       {{"a"},
        {"b"},
        {"acc"},
        {"use_acc", "True"},
        {"precision", "None"},
        {"max_num_imprecise_acc", "None"},
        {"is_async", "False"}},
       "a * b + acc by matrix instructions of four warps; b, and a where it is no tile, are buffers.",
       emitWarpGroupMma},
      {"warpgroup_mma_init", hopperModule, {{"value"}}, "A tile as an accumulator.", emitAccumulatorInit},
      {"warpgroup_mma_wait",
       hopperModule,
       {{"num_outstanding", "0"}, {"deps", "None"}},
       "Waits until that many warpgroup_mma are left; gives the accumulators in `deps`, which can then be used.",
       emitWarpGroupWait},
  };
  return table;
}

} // namespace nereid::sema
