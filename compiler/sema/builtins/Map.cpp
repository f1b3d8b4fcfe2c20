// The built-in map_elementwise, which applies a function of scalars to every element.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TileShape.h"
#include "compiler/sema/builtins/ScalarFunction.h"

namespace nereid::sema {
namespace {

/// The function's returned scalars, `pack` of one type for each result; empty after an error.
std::vector<Value> scalarResults(const CallSite &site, std::vector<Value> values, int64_t pack) {
  const SourceRange range = site.rangeOf("scalar_fn");
  if (values.empty() || values.size() % pack != 0) {
    site.emitter.error(diag::MapResultCount, range, pack, values.size());
    return {};
  }
  for (auto [index, value] : llvm::enumerate(values)) {
    value = site.emitter.decay(value, range);
    if (value.isPoison())
      return {};
    if (!value.tensor() || value.tensor()->type.isTile()) {
      site.emitter.error(diag::MapResultType, range, index, describe(value));
      return {};
    }
    const Type &first = values[index - index % pack].tensor()->type;
    if (value.tensor()->type != first) {
      site.emitter.error(diag::MapPackTypes, range, pack, first.str(), value.tensor()->type.str());
      return {};
    }
  }
  return values;
}

/// The operands in one shape; empty after an error.
std::vector<Value> operandsOf(const CallSite &site) {
  std::vector<Value> operands;
  for (const Value &each : *site["args"].elements()) {
    operands.push_back(site.emitter.toTensor(each, site.rangeOf("args")));
    if (operands.back().isPoison())
      return {};
  }
  if (operands.empty())
    site.emitter.error(diag::MapOperands, site.range);
  if (operands.empty() || !broadcastAll(site.emitter, operands, site.range))
    return {};
  if (!operands.front().tensor()->type.isTile()) // scalars are tiles of one element here
    for (Value &operand : operands)
      operand = expandDims(site.emitter, operand, 0, site.range);
  return operands;
}

/// The op with its region; `results` receives the scalars that one call returns.
tt::MapElementwiseOp emitOp(const CallSite &site, llvm::ArrayRef<Value> operands, int64_t pack,
                            std::vector<Value> &results) {
  llvm::SmallVector<mlir::Value> sources;
  llvm::SmallVector<Type> args;
  for (const Value &operand : operands) {
    sources.push_back(operand.tensor()->value);
    args.append(pack, operand.tensor()->type.element());
  }
  // The results' types are known only after the region is emitted: until then the region belongs to an op without
  // results.
  mlir::OpBuilder &builder = builderOf(site);
  auto draft = tt::MapElementwiseOp::create(builder, locationOf(site), mlir::TypeRange(), sources, pack);
  mlir::OpBuilder::InsertionGuard guard(builder);
  auto returned = emitScalarFunction(site, "scalar_fn", args, draft.getScalarOp(), diag::MapParameterCount);
  if (returned)
    results = scalarResults(site, std::move(*returned), pack);
  if (results.empty()) {
    draft.erase();
    return {};
  }
  llvm::SmallVector<mlir::Value> values;
  llvm::SmallVector<mlir::Type> types;
  const Type shape = operands.front().tensor()->type;
  for (auto [index, result] : llvm::enumerate(results)) {
    values.push_back(result.tensor()->value);
    if (index % pack == 0)
      types.push_back(
          result.tensor()->type.withShape(shape.shape).withLayout(shape.layout).toMlir(builder.getContext()));
  }
  tt::MapElementwiseReturnOp::create(builder, locationOf(site), values);
  builder.setInsertionPoint(draft);
  auto op = tt::MapElementwiseOp::create(builder, locationOf(site), types, sources, pack);
  op.getScalarOp().takeBody(draft.getScalarOp());
  draft.erase();
  return op;
}

Value emitMap(const CallSite &site) {
  auto pack = intArgument(site, "pack");
  std::vector<Value> operands = operandsOf(site);
  if (!pack || operands.empty())
    return Value::poison();
  const Type type = operands.front().tensor()->type;
  if (failed(tt::checkPack(*pack, type.elementCount(), CallReporter(site.emitter, site.rangeOf("pack")))))
    return Value::poison();
  std::vector<Value> scalars, tiles;
  tt::MapElementwiseOp op = emitOp(site, operands, *pack, scalars);
  if (!op)
    return Value::poison();
  const bool isScalar = llvm::all_of(*site["args"].elements(),
                                     [](const Value &each) { return !each.tensor() || !each.tensor()->type.isTile(); });
  for (auto [index, result] : llvm::enumerate(op.getResults())) {
    const Type element = scalars[index * *pack].tensor()->type;
    Value tile = Value::tensor(result, element.withShape(type.shape));
    tiles.push_back(isScalar ? sema::emitOp<tt::UnsplatOp>(site, element, tile) : tile);
  }
  return tiles.size() == 1 ? tiles.front() : Value::tuple(std::move(tiles));
}

} // namespace

llvm::ArrayRef<Builtin> mapBuiltins() {
  static const Builtin table[] = {
      {"map_elementwise",
       languageModule,
       {{"scalar_fn"}, {"*args"}, {"pack", "1"}},
       "A function of scalars, with branches and loops of its own, applied to every element.",
       emitMap},
  };
  return table;
}

} // namespace nereid::sema
