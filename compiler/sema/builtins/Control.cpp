// Built-ins of loops: range, tl.range, static_range, condition.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/LoopHints.h"
#include "compiler/sema/builtins/Emission.h"
#include "compiler/sema/builtins/Python.h"

namespace nereid::sema {
namespace {

/// `range(end)`, `range(begin, end)` or `range(begin, end, step)`.
RangeValue boundsOf(const CallSite &site) {
  RangeValue range;
  const bool hasBegin = !site["arg2"].isNone();
  range.begin = hasBegin ? site["arg1"] : Value::integer(0);
  range.end = hasBegin ? site["arg2"] : site["arg1"];
  range.step = site["step"].isNone() ? Value::integer(1) : site["step"];
  return range;
}

Value asValue(RangeValue range) { return std::make_shared<const RangeValue>(std::move(range)); }

Value emitRange(const CallSite &site) { return asValue(boundsOf(site)); }

Value emitStaticRange(const CallSite &site) {
  RangeValue range = boundsOf(site);
  range.isStatic = true;
  for (auto [name, bound] :
       {std::pair("start", &range.begin), std::pair("end", &range.end), std::pair("step", &range.step)})
    if (!bound->asInt64())
      return site.emitter.error(diag::StaticRangeBound, site.range, describe(*bound), name);
  return asValue(std::move(range));
}

/// A count that may be None; false after an error.
bool readCount(const CallSite &site, llvm::StringRef parameter, std::optional<int64_t> &count) {
  if (site[parameter].isNone())
    return true;
  const SourceRange range = site.rangeOf(parameter);
  count = intArgument(site, parameter);
  if (count && (*count < 0 || *count > INT32_MAX)) {
    site.emitter.error(diag::LoopCount, range, parameter, *count);
    return false;
  }
  return count.has_value();
}

bool readFlag(const CallSite &site, llvm::StringRef parameter, bool &flag) {
  std::optional<bool> value = boolArgument(site, parameter);
  flag = value.value_or(false);
  return value.has_value();
}

Value emitTlRange(const CallSite &site) {
  RangeValue range = boundsOf(site);
  bool warpSpecialize = false;
  const bool isGood = readCount(site, "num_stages", range.numStages) &&
                      readCount(site, "loop_unroll_factor", range.loopUnrollFactor) &&
                      readFlag(site, "disallow_acc_multi_buffer", range.disallowAccMultiBuffer) &&
                      readFlag(site, "flatten", range.flatten) && readFlag(site, "warp_specialize", warpSpecialize) &&
                      readFlag(site, "disable_licm", range.disableLicm);
  if (site.isGiven("warp_specialize"))
    range.warpSpecialize = warpSpecialize;
  return isGood ? asValue(std::move(range)) : Value::poison();
}

/// The loop whose test is being emitted; null elsewhere.
mlir::scf::WhileOp loopUnderTest(mlir::OpBuilder &builder) {
  for (mlir::Region *region = builder.getInsertionBlock()->getParent(); region; region = region->getParentRegion())
    if (auto loop = llvm::dyn_cast_or_null<mlir::scf::WhileOp>(region->getParentOp()))
      return region == &loop.getBefore() ? loop : mlir::scf::WhileOp();
  return {};
}

/// `condition(test)`, the wrapper of a `while` test.
Value emitCondition(const CallSite &site) {
  bool disableLicm = false;
  if (!readFlag(site, "disable_licm", disableLicm))
    return Value::poison();
  if (auto loop = disableLicm ? loopUnderTest(site.emitter.builder) : mlir::scf::WhileOp())
    forbidHoisting(loop);
  return site["arg1"];
}

} // namespace

llvm::ArrayRef<Builtin> controlBuiltins() {
  static const std::vector<Builtin> table = [] {
    std::vector<Builtin> entries = {
        {"range",
         languageModule,
         {{"arg1"},
          {"arg2", "None"},
          {"step", "None"},
          {"num_stages", "None"},
          {"loop_unroll_factor", "None"},
          {"disallow_acc_multi_buffer", "False"},
          {"flatten", "False"},
          {"warp_specialize", "False"},
          {"disable_licm", "False"}},
         "Iterates as Python's range, with hints for the loop.",
         emitTlRange},
        {"static_range",
         languageModule,
         {{"arg1"}, {"arg2", "None"}, {"step", "None"}},
         "Iterates as Python's range while compiling: the loop is unrolled.",
         emitStaticRange},
        {"condition",
         languageModule,
         {{"arg1"}, {"disable_licm", "False"}},
         "The test of a while loop, with hints for the loop.",
         emitCondition},
        {"range",
         pythonModule,
         {{"arg1"}, {"arg2", "None"}, {"step", "None"}},
         "Iterates over integers.",
         emitRange,
         /*isMember=*/false,
         /*mustUseResult=*/"",
         /*ignoresKeywords=*/true},
    };
    appendPython(entries);
    return entries;
  }();
  return table;
}

} // namespace nereid::sema
