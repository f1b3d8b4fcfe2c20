// The built-in associative_scan, which combines each element with those before it.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/ScalarFunction.h"

namespace nereid::sema {

static Value emitScan(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  std::optional<std::vector<Value>> operands = tilesOfOneShape(site);
  auto reverse = boolArgument(site, "reverse");
  auto axis = intArgument(site, "axis");
  if (!operands || !reverse || !axis)
    return Value::poison();
  axis = checkAxis(emitter, *axis, operands->front().tensor()->type.shape.size(), site.rangeOf("axis"));
  if (!axis)
    return Value::poison();
  llvm::SmallVector<Type> elements;
  llvm::SmallVector<mlir::Value> sources;
  for (const Value &operand : *operands) {
    elements.push_back(operand.tensor()->type.element());
    sources.push_back(operand.tensor()->value);
  }
  auto scan = tt::ScanOp::create(builderOf(site), locationOf(site), mlir::ValueRange(sources).getTypes(), sources,
                                 static_cast<uint32_t>(*axis), *reverse);
  mlir::OpBuilder::InsertionGuard guard(builderOf(site));
  llvm::SmallVector<mlir::Value> combined = emitCombination(site, elements, scan.getCombine());
  if (combined.empty()) {
    scan.erase();
    return Value::poison();
  }
  tt::ScanReturnOp::create(builderOf(site), locationOf(site), combined);
  std::vector<Value> values;
  for (auto [result, operand] : llvm::zip_equal(scan.getResults(), *operands))
    values.push_back(Value::tensor(result, operand.tensor()->type));
  return site["input"].elements() ? Value::tuple(std::move(values)) : values.front();
}

llvm::ArrayRef<Builtin> scanBuiltins() {
  static const Builtin table[] = {
      {"associative_scan",
       languageModule,
       {{"input"}, {"axis"}, {"combine_fn"}, {"reverse", "False"}},
       "Each element combined with all before it along an axis, by an associative function.",
       emitScan,
       true},
  };
  return table;
}

} // namespace nereid::sema
