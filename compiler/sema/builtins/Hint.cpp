// Built-ins that tell the compiler facts: multiple_of, max_contiguous, max_constancy, assume.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/foreign/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {
namespace {

/// Attaches one positive number per dimension to what defines the tensor.
Value attach(const CallSite &site, llvm::StringRef attribute, bool allowsScalar) {
  FunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("values");
  Value input = tensorArgument(site, "input");
  auto values = emitter.constantInts(site["values"], range, "values");
  if (input.isPoison() || !values)
    return Value::poison();
  const Type &type = input.tensor()->type;
  const size_t wanted = type.isTile() ? type.shape.size() : (allowsScalar ? 1 : 0);
  if (values->size() != wanted)
    return emitter.error(diag::HintCount, range, site.builtin.name, type.str(), wanted, values->size());
  for (int64_t value : *values)
    if (value < 1 || value > INT32_MAX)
      return emitter.error(diag::HintValue, range, site.builtin.name, value);
  mlir::OpBuilder &builder = builderOf(site);
  const auto numbers = llvm::to_vector_of<int32_t>(*values);
  mlir::Attribute fact = builder.getI32TensorAttr(numbers);
  mlir::Value value = input.tensor()->value;
  if (mlir::Operation *source = value.getDefiningOp()) {
    source->setAttr(attribute, fact);
    return input;
  }
  auto argument = llvm::cast<mlir::BlockArgument>(value);
  auto function = llvm::dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp());
  // What a loop carries has no single source; the hint would hold for one iteration only.
  if (function && argument.getOwner()->isEntryBlock())
    function.setArgAttr(argument.getArgNumber(), attribute,
                        type.isTile() ? fact : builder.getI32IntegerAttr(numbers.front()));
  return input;
}

Value emitAssume(const CallSite &site) {
  const Value condition = tensorArgument(site, "cond");
  if (condition.isPoison())
    return condition;
  if (condition.tensor()->type.isTile())
    return site.emitter.error(diag::AssumeTile, site.rangeOf("cond"), condition.tensor()->type.str());
  const Value truth = site.emitter.cast(condition, Scalar::Int1, site.rangeOf("cond"));
  builderOf(site).getContext()->getOrLoadDialect<foreign::LlvmDialect>();
  foreign::AssumeOp::create(builderOf(site), locationOf(site), truth.tensor()->value);
  return Value();
}

Value emitMultipleOf(const CallSite &site) { return attach(site, "tt.divisibility", true); }
Value emitMaxContiguous(const CallSite &site) { return attach(site, "tt.contiguity", false); }
Value emitMaxConstancy(const CallSite &site) { return attach(site, "tt.constancy", false); }

} // namespace

llvm::ArrayRef<Builtin> hintBuiltins() {
  static const llvm::SmallVector<BuiltinParam, 4> params = {{"input"}, {"values"}};
  static const Builtin table[] = {
      {"multiple_of", languageModule, params, "Promises that the first element of each run is a multiple of a number.",
       emitMultipleOf},
      {"assume", languageModule, {{"cond"}}, "Promises that a scalar condition holds.", emitAssume},
      {"max_contiguous", languageModule, params, "Promises that runs of so many elements are contiguous.",
       emitMaxContiguous},
      {"max_constancy", languageModule, params, "Promises that runs of so many elements are equal.", emitMaxConstancy},
  };
  return table;
}

} // namespace nereid::sema
