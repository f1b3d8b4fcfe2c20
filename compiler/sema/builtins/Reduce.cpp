// The built-in reduce, which combines the elements along a dimension with a function.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/ScalarFunction.h"

namespace nereid::sema {
namespace {

/// `value` with a dimension of 1 for each reduced one.
Value keepDims(const CallSite &site, Value value, llvm::ArrayRef<int64_t> axes) {
  for (int64_t axis : axes)
    value = expandDims(site.emitter, value, axis, site.range);
  return value;
}

/// The tile's elements in one dimension, in any order: the combination is associative and commutative.
Value flattened(const CallSite &site, const Value &tile) {
  const Type type = tile.tensor()->type.withShape(tile.tensor()->type.elementCount());
  if (type == tile.tensor()->type)
    return tile;
  return emitOp<tt::ReshapeOp>(site, type, tile, /*allow_reorder=*/true, /*efficient_layout=*/false);
}

/// The reduced operands, one tensor each; empty after an error.
std::vector<Value> reduceAlong(const CallSite &site, llvm::ArrayRef<Value> operands, int64_t axis) {
  llvm::SmallVector<Type> elements, results;
  llvm::SmallVector<mlir::Value> sources;
  llvm::SmallVector<mlir::Type> irResults;
  for (const Value &operand : operands) {
    const Type &type = operand.tensor()->type;
    llvm::SmallVector<int64_t> rest(llvm::ArrayRef<int64_t>(type.shape));
    rest.erase(rest.begin() + axis);
    elements.push_back(type.element());
    results.push_back(type.withShape(rest));
    sources.push_back(operand.tensor()->value);
    irResults.push_back(results.back().toMlir(builderOf(site).getContext()));
  }
  auto reduce =
      tt::ReduceOp::create(builderOf(site), locationOf(site), irResults, sources, static_cast<uint32_t>(axis));
  if (site.emitter.module.isGluon && !site.emitter.settleLayouts(reduce, site.range))
    return {};
  mlir::OpBuilder::InsertionGuard guard(builderOf(site));
  llvm::SmallVector<mlir::Value> combined = emitCombination(site, elements, reduce.getCombine());
  if (combined.empty()) {
    reduce.erase();
    return {};
  }
  tt::ReduceReturnOp::create(builderOf(site), locationOf(site), combined);
  std::vector<Value> values;
  for (auto [irValue, type] : llvm::zip_equal(reduce.getResults(), results))
    values.push_back(Value::tensor(irValue, type));
  return values;
}

Value emitReduce(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  std::optional<std::vector<Value>> operands = tilesOfOneShape(site);
  auto keeps = boolArgument(site, "keep_dims");
  if (!operands || !keeps)
    return Value::poison();
  const int64_t rank = operands->front().tensor()->type.shape.size();
  llvm::SmallVector<int64_t> axes;
  std::optional<int64_t> axis = 0;
  if (site["axis"].isNone()) {
    axes = llvm::to_vector(llvm::seq<int64_t>(rank));
    for (Value &operand : *operands)
      operand = flattened(site, operand);
  } else {
    axis = intArgument(site, "axis");
    if (axis)
      axis = checkAxis(emitter, *axis, rank, site.rangeOf("axis"));
    else if (!site["axis"].isPoison())
      noteExtreme(emitter, site.rangeOf("axis"));
    if (!axis)
      return Value::poison();
    axes = {*axis};
  }
  std::vector<Value> values = reduceAlong(site, *operands, *axis);
  if (values.empty())
    return Value::poison();
  if (*keeps)
    for (Value &value : values)
      value = keepDims(site, value, axes);
  return site["input"].elements() ? Value::tuple(std::move(values)) : values.front();
}

} // namespace

llvm::ArrayRef<Builtin> reduceBuiltins() {
  static const Builtin table[] = {
      {"reduce",
       languageModule,
       {{"input"}, {"axis"}, {"combine_fn"}, {"keep_dims", "False"}},
       "Combines the elements along an axis, or all of them, with an associative and commutative function.",
       emitReduce,
       true},
  };
  return table;
}

} // namespace nereid::sema
