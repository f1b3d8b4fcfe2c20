// Built-ins that attach hints: multiple_of, max_contiguous, max_constancy, assume.
// SPDX-License-Identifier: MIT
//
// A hint is an attribute of the op that defines the tensor. Loop-carried values, results of branches and parameters of
// called functions have no op of their own: a `tt.bitcast` to the same type holds the hint and replaces the value in
// its uses.
#include "compiler/sema/builtins/Hint.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

namespace nereid::sema {
namespace {

/// Whether attributes on the op that defines `value` apply to that value alone and stay with it.
bool hasOwnOp(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  return op && op->getNumResults() == 1 && op->getNumRegions() == 0 && !llvm::isa<tt::CallOp>(op);
}

/// The op that holds the hints on `value`, which has none of its own; created at the first hint.
tt::BitcastOp hintOpOf(mlir::OpBuilder &builder, mlir::Value value) {
  for (mlir::Operation *user : value.getUsers())
    if (auto hint = llvm::dyn_cast<tt::BitcastOp>(user); hint && hint.isHint())
      return hint;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(value);
  return tt::BitcastOp::create(builder, value.getLoc(), value.getType(), value);
}

/// The initial value of the loop-carried `value`; null where `value` is not carried by a loop.
mlir::Value initOf(mlir::Value value) {
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  mlir::Operation *loop = argument ? argument.getOwner()->getParentOp() : nullptr;
  const unsigned index = argument ? argument.getArgNumber() : 0;
  if (auto counted = llvm::dyn_cast_or_null<mlir::scf::ForOp>(loop))
    return index ? counted.getInitArgs()[index - 1] : mlir::Value();
  if (auto tested = llvm::dyn_cast_or_null<mlir::scf::WhileOp>(loop); tested && index < tested.getInits().size())
    return tested.getInits()[index];
  return {};
}

void attachTo(mlir::OpBuilder &builder, mlir::Value value, llvm::StringRef attribute,
              mlir::DenseIntElementsAttr hintAttr) {
  if (hasOwnOp(value))
    return value.getDefiningOp()->setAttr(attribute, hintAttr);
  auto argument = llvm::dyn_cast<mlir::BlockArgument>(value);
  auto function = argument ? llvm::dyn_cast<tt::FuncOp>(argument.getOwner()->getParentOp()) : tt::FuncOp();
  if (function && function.isPublic() && argument.getOwner()->isEntryBlock()) {
    const bool isTile = llvm::isa<mlir::RankedTensorType>(value.getType());
    function.setArgAttr(argument.getArgNumber(), attribute,
                        isTile ? mlir::Attribute(hintAttr) : hintAttr.getValues<mlir::Attribute>()[0]);
    return;
  }
  // Scalars of a combine or map region: hints on them are not used.
  if (argument && !llvm::isa<tt::FuncOp, mlir::scf::ForOp, mlir::scf::WhileOp>(argument.getOwner()->getParentOp()))
    return;
  hintOpOf(builder, value)->setAttr(attribute, hintAttr);
  // As in Triton, a hint in a loop's body also applies to the initial value.
  mlir::Value init = value;
  while (init && !hasOwnOp(init))
    init = initOf(init);
  if (init)
    init.getDefiningOp()->setAttr(attribute, hintAttr);
}

/// Attaches one positive number per dimension to the definition of the tensor.
Value attach(const CallSite &site, llvm::StringRef attribute, bool allowsScalar) {
  TtFunctionEmitter &emitter = site.emitter;
  const SourceRange range = site.rangeOf("values");
  Value input = tensorArgument(site, "input");
  auto values = intsArgument(site, "values");
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
  attachTo(builder, input.tensor()->value, attribute, builder.getI32TensorAttr(numbers));
  return input;
}

Value emitAssume(const CallSite &site) {
  const Value condition = tensorArgument(site, "cond");
  if (condition.isPoison())
    return condition;
  if (condition.tensor()->type.isTile())
    return site.emitter.error(diag::AssumeTile, site.rangeOf("cond"), condition.tensor()->type.str());
  const Value truth = site.emitter.cast(condition, Scalar::Int1, site.rangeOf("cond"));
  builderOf(site).getContext()->getOrLoadDialect<imported::LlvmDialect>();
  imported::AssumeOp::create(builderOf(site), locationOf(site), truth.tensor()->value);
  return Value();
}

Value emitMultipleOf(const CallSite &site) { return attach(site, "tt.divisibility", true); }
Value emitMaxContiguous(const CallSite &site) { return attach(site, "tt.contiguity", false); }
Value emitMaxConstancy(const CallSite &site) { return attach(site, "tt.constancy", false); }

} // namespace

llvm::ArrayRef<Builtin> hintBuiltins() {
  static const llvm::SmallVector<BuiltinParam, 4> params = {{"input"}, {"values"}};
  static const Builtin table[] = {
      {"multiple_of", languageModule, params,
       "Tells the compiler that the first element of each run is a multiple of a number.", emitMultipleOf},
      {"assume", languageModule, {{"cond"}}, "Tells the compiler that a scalar condition holds.", emitAssume},
      {"max_contiguous", languageModule, params, "Tells the compiler that runs of so many elements are contiguous.",
       emitMaxContiguous},
      {"max_constancy", languageModule, params, "Tells the compiler that runs of so many elements are equal.",
       emitMaxConstancy},
  };
  return table;
}

void useHints(mlir::ModuleOp module) {
  module.walk([](tt::BitcastOp hint) {
    if (!hint.isHint())
      return;
    // A loop that yields the carried value unchanged keeps doing so.
    const bool isCarried = llvm::isa<mlir::BlockArgument>(hint.getSrc());
    hint.getSrc().replaceUsesWithIf(hint.getResult(), [&](mlir::OpOperand &use) {
      mlir::Operation *user = use.getOwner();
      return user != hint && !(isCarried && llvm::isa<mlir::scf::YieldOp, mlir::scf::ConditionOp>(user));
    });
  });
}

} // namespace nereid::sema
