// Fills the regions of reduce, scan and map_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/ScalarFunction.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Suggestions.h"

using namespace nereid;
using namespace nereid::sema;

/// Runs a built-in as the function: `tl.reduce(x, 0, tl.maximum)`.
static std::vector<Value> callOnBlock(const CallSite &site, const Builtin &builtin, llvm::ArrayRef<Type> types,
                                      mlir::Region &region, SourceRange range) {
  mlir::Block *block = builderOf(site).createBlock(&region);
  llvm::SmallVector<PositionalArgument> args;
  for (const Type &type : types) {
    mlir::Value arg = block->addArgument(type.toMlir(builderOf(site).getContext()), locationOf(site));
    args.push_back({Value::tensor(arg, type), range});
  }
  Value result = site.emitter.callBuiltin(builtin, args, {}, range);
  return result.elements() ? *result.elements() : std::vector<Value>{result};
}

std::optional<std::vector<Value>> sema::emitScalarFunction(const CallSite &site, llvm::StringRef parameter,
                                                           llvm::ArrayRef<Type> args, mlir::Region &region,
                                                           const support::DiagnosticKind &wrongParameterCount) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf(parameter);
  std::vector<Value> results;
  if (const FunctionValue *function = site[parameter].get<FunctionValue>()) {
    if (!emitter.module.emitBody(function->function, args, region, emitter.fileRange(range), wrongParameterCount,
                                 results))
      return std::nullopt;
    return results;
  }
  if (const BuiltinValue *builtin = site[parameter].get<BuiltinValue>())
    return callOnBlock(site, *builtin->builtin, args, region, range);
  emitter.error(diag::CombineNotFunction, range, parameter == "combine_fn" ? "combine" : "scalar",
                describe(site[parameter]));
  return std::nullopt;
}

/// A maximum of bf16 is bf16 in Triton 3.9 and fp32 in 3.6 and here; the operand's type holds it exactly.
static bool isPromoted(const Value &value, const Type &type) {
  const TensorValue *tensor = value.tensor();
  return tensor && type.scalar == Scalar::BFloat16 && tensor->type == type.withScalar(Scalar::Float32);
}

llvm::SmallVector<mlir::Value> sema::emitCombination(const CallSite &site, llvm::ArrayRef<Type> types,
                                                     mlir::Region &region) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("combine_fn");
  llvm::SmallVector<Type> args(types);
  args.append(types.begin(), types.end());
  auto results = emitScalarFunction(site, "combine_fn", args, region, diag::CombineParameterCount);
  if (!results)
    return {};
  if (results->size() != types.size()) {
    emitter.error(diag::CombineResultCount, range, types.size(), results->size());
    return {};
  }
  llvm::SmallVector<mlir::Value> values;
  for (auto [result, type] : llvm::zip_equal(*results, types)) {
    Value value = result.isNumber() || isPromoted(result, type) ? emitter.cast(result, type, range) : result;
    if (value.isPoison())
      return {};
    if (!value.tensor() || value.tensor()->type != type) {
      emitter.error(diag::CombineResultType, range, type.str(), describe(value));
      return {};
    }
    values.push_back(value.tensor()->value);
  }
  return values;
}

std::optional<std::vector<Value>> sema::tilesOfOneShape(const CallSite &site) {
  const SourceRange range = site.rangeOf("input");
  std::vector<Value> operands;
  if (const std::vector<Value> *elements = site["input"].elements())
    operands = *elements;
  else
    operands = {site["input"]};
  for (Value &operand : operands) {
    operand = site.emitter.toTensor(operand, range);
    if (operand.isPoison())
      return std::nullopt;
    if (!operand.tensor()->type.isTile() || operand.tensor()->type.isPointer) {
      site.emitter.error(diag::ReduceOperand, range, site.builtin.name, operand.tensor()->type.str(),
                         operand.tensor()->type.isPointer ? "; load it first" : "; a scalar is its own result");
      noteExtreme(site.emitter, range);
      return std::nullopt;
    }
    if (operand.tensor()->type.shape != operands.front().tensor()->type.shape) {
      site.emitter.error(diag::ReduceShapes, range, site.builtin.name == "reduce" ? "reduction" : "scan",
                         operands.front().tensor()->type.str(), operand.tensor()->type.str());
      return std::nullopt;
    }
  }
  if (!operands.empty())
    return operands;
  site.emitter.error(diag::ReduceOperand, range, site.builtin.name, "()", "");
  return std::nullopt;
}
