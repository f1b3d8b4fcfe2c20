// `for` over ranges and `while`: unrolled when static, scf.for and scf.while otherwise.
// SPDX-License-Identifier: MIT
//
// A loop carries every name that it assigns and that was a tensor before it;
// names that it assigns first end with it.
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

// Unrolling more often than this is a mistake, not a wish.
static constexpr int64_t maxUnrolledIterations = 100'000;

namespace {
/// The names that a loop carries, with their values before it.
struct Carried {
  llvm::SmallVector<std::pair<llvm::StringRef, Binding>> names;
  llvm::SmallVector<mlir::Value> inits;
  llvm::SmallVector<mlir::Type> types;

  Carried(const Scope &scope, const NameSet &assigned) {
    for (llvm::StringRef name : assigned) {
      const auto *found = scope.find(name);
      if (found == scope.end())
        continue;
      llvm::SmallVector<TensorValue> tensors;
      flatten(found->second.value, tensors);
      if (tensors.empty())
        continue;
      names.push_back({name, found->second});
      for (const TensorValue &tensor : tensors) {
        inits.push_back(tensor.value);
        types.push_back(tensor.value.getType());
      }
    }
  }

  /// The carried names stand for `values` from here on.
  void bind(Scope &scope, llvm::ArrayRef<mlir::Value> values) const {
    for (const auto &[name, binding] : names)
      scope[name] = {unflatten(binding.value, values), binding.where, false};
  }
};
} // namespace

/// What the body made of the carried names, for the yield. False after an error.
static bool collectCarried(FunctionEmitter &emitter, const Carried &carried, llvm::SmallVectorImpl<mlir::Value> &out) {
  bool good = true;
  for (const auto &[name, before] : carried.names) {
    const Binding &now = emitter.scope[name];
    if (now.value.isPoison() || before.value.isPoison()) {
      good = false;
      continue;
    }
    if (!sameShape(before.value, now.value)) {
      emitter.error(diag::LoopChangesType, now.where, name, describe(before.value), describe(now.value));
      emitter.lastDiagnostic->note(llvm::formatv("`{0}` gets its initial value here", name).str(),
                                   emitter.place(before.where));
      good = false;
      continue;
    }
    llvm::SmallVector<TensorValue> tensors;
    flatten(now.value, tensors);
    for (const TensorValue &tensor : tensors)
      out.push_back(tensor.value);
  }
  return good;
}

/// Constants cannot change from one iteration of a runtime loop to the next.
static void checkConstants(FunctionEmitter &emitter, const Scope &before, const NameSet &assigned) {
  for (llvm::StringRef name : assigned) {
    const auto *was = before.find(name);
    if (was == before.end() || !was->second.value.isConstant() || was->second.value.isPoison())
      continue;
    const Binding &now = emitter.scope[name];
    if (now.value.isPoison() || (now.value.isConstant() && sameConstant(was->second.value, now.value)))
      continue;
    if (was->second.isConstexpr)
      emitter.error(diag::ConstexprInLoop, now.where, name);
    else
      emitter.error(diag::LoopChangesType, now.where, name, describe(was->second.value), describe(now.value));
    emitter.lastDiagnostic->note(llvm::formatv("`{0}` gets its initial value here", name).str(),
                                 emitter.place(was->second.where));
  }
}

//--- for -------------------------------------------------------------------------------------

void FunctionEmitter::runFor(const syntax::For *statement) {
  if (statement->isAsync || !statement->orelse.empty()) {
    error(diag::LoopElse, statement->range, statement->isAsync ? "async for" : "`for` with `else`");
    return;
  }
  const Value iterable = evaluate(statement->iterable);
  if (iterable.isPoison()) {
    // The body is looked at for its own errors, with an unknown loop variable.
    Scope before = scope;
    assignTo(statement->target, Value::poison(), false, statement->target->range);
    run(statement->body, nullptr);
    scope = std::move(before);
    return;
  }
  auto *range = iterable.get<std::shared_ptr<const RangeValue>>();
  if (!range) {
    error(diag::IteratorNotRange, statement->iterable->range, iterable.kindName());
    return;
  }
  ++loopDepth;
  if ((*range)->isStatic)
    unroll(statement, **range);
  else
    runtimeFor(statement, **range);
  --loopDepth;
}

void FunctionEmitter::unroll(const syntax::For *statement, const RangeValue &range) {
  const SourceRange where = statement->iterable->range;
  std::optional<int64_t> begin = constantInt(range.begin, where, "start of static_range");
  std::optional<int64_t> end = constantInt(range.end, where, "end of static_range");
  std::optional<int64_t> step = constantInt(range.step, where, "step of static_range");
  if (!begin || !end || !step)
    return;
  if (*step == 0) {
    error(diag::ZeroStep, where);
    return;
  }
  const __int128 distance = static_cast<__int128>(*end) - *begin;
  const __int128 count = *step > 0 ? (distance + *step - 1) / *step : (distance + *step + 1) / *step;
  if (count > maxUnrolledIterations) {
    error(diag::UnrollTooLong, where, static_cast<int64_t>(count), maxUnrolledIterations);
    return;
  }
  const size_t errorsBefore = module.diagnostics.errorCount();
  for (int64_t index = *begin, i = 0; i < count; ++i, index += *step) {
    assignTo(statement->target, Value::integer(index), true, statement->target->range);
    run(statement->body, nullptr);
    if (module.diagnostics.errorCount() != errorsBefore)
      return; // the same errors again would help nobody
  }
}

/// The three bounds as scalars of one integer type. False after an error.
bool FunctionEmitter::loopBounds(const RangeValue &range, SourceRange where, Value (&bounds)[3], Scalar &type) {
  const Value *given[3] = {&range.begin, &range.end, &range.step};
  static constexpr llvm::StringLiteral names[3] = {"lower bound", "upper bound", "step"};
  type = Scalar::Int32;
  bool first = true;
  for (int i = 0; i < 3; ++i) {
    if (given[i]->isPoison())
      return false;
    const TensorValue *tensor = given[i]->tensor();
    if (!(tensor ? tensor->type.isInt() : given[i]->is<bool>() || given[i]->integer())) {
      error(diag::LoopBoundNotInt, where, names[i], describe(*given[i]));
      return false;
    }
    if (tensor && tensor->type.isTile()) {
      error(diag::LoopBoundNotScalar, where, names[i], tensor->type.str());
      return false;
    }
    bounds[i] = toTensor(*given[i], where);
    if (bounds[i].isPoison())
      return false;
    // A Python number adapts to the tensors; only its width counts.
    const Scalar own = bounds[i].tensor()->type.scalar;
    if (!tensor) {
      if (bitsOf(own) > bitsOf(type))
        type = integerOf(bitsOf(own), !isUnsignedInteger(type) || first);
      continue;
    }
    if (bitsOf(own) > bitsOf(type) || (bitsOf(own) == bitsOf(type) && isUnsignedInteger(own)))
      type = own;
    first = false;
  }
  for (Value &bound : bounds)
    bound = cast(bound, Type(type), where);
  return true;
}

/// The hints of tl.range as attributes on the loop.
static void attachHints(mlir::OpBuilder &builder, mlir::scf::ForOp loop, const RangeValue &range) {
  if (range.numStages)
    loop->setAttr("tt.num_stages", builder.getI32IntegerAttr(*range.numStages));
  if (range.loopUnrollFactor)
    loop->setAttr("tt.loop_unroll_factor", builder.getI32IntegerAttr(*range.loopUnrollFactor));
  if (range.disallowAccMultiBuffer)
    loop->setAttr("tt.disallow_acc_multi_buffer", builder.getUnitAttr());
  if (range.flatten)
    loop->setAttr("tt.flatten", builder.getUnitAttr());
  if (range.warpSpecialize)
    loop->setAttr("tt.warp_specialize", builder.getUnitAttr());
}

void FunctionEmitter::runtimeFor(const syntax::For *statement, const RangeValue &range) {
  const SourceRange where = statement->iterable->range;
  const llvm::DynamicAPInt *knownStep = range.step.integer();
  if (knownStep && *knownStep == 0) {
    error(diag::ZeroStep, where);
    return;
  }
  // range(a, b, -s) counts up over the distance from a: index = a - k.
  const bool mirrored = knownStep && *knownStep < 0;
  RangeValue positive = range;
  if (mirrored)
    positive.step = Value(-*knownStep);
  Value bounds[3];
  Scalar type;
  if (!loopBounds(positive, where, bounds, type))
    return;
  const Value start = bounds[0];
  if (mirrored) {
    bounds[1] = binary(syntax::BinaryOperator::Sub, bounds[0], bounds[1], where, where);
    bounds[0] = constantOf(Value::integer(0), type, where);
  }

  NameSet assigned;
  addAssignedNames(statement->body, assigned);
  const Scope before = scope;
  Carried carried(scope, assigned);
  auto loop = mlir::scf::ForOp::create(builder, location(statement->range), bounds[0].tensor()->value,
                                       bounds[1].tensor()->value, bounds[2].tensor()->value, carried.inits);
  loop.setUnsignedCmp(isUnsignedInteger(type));
  attachHints(builder, loop, range);
  if (loop.getBody()->mightHaveTerminator())
    loop.getBody()->getTerminator()->erase();

  llvm::SmallVector<mlir::Value> yielded;
  bool good;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(loop.getBody());
    carried.bind(scope, llvm::to_vector_of<mlir::Value>(loop.getRegionIterArgs()));
    Value index = Value::tensor(loop.getInductionVar(), Type(type));
    if (mirrored)
      index = binary(syntax::BinaryOperator::Sub, start, index, where, where);
    assignTo(statement->target, index, false, statement->target->range);
    run(statement->body, nullptr);
    checkConstants(*this, before, assigned);
    good = collectCarried(*this, carried, yielded);
    mlir::scf::YieldOp::create(builder, location(statement->range), good ? yielded : carried.inits);
  }
  scope = before;
  carried.bind(scope, llvm::to_vector_of<mlir::Value>(loop.getResults()));
  // The loop variable has no defined value after the loop.
  if (auto *name = dyn_cast<syntax::Name>(statement->target))
    scope.erase(name->id);
}

//--- while -----------------------------------------------------------------------------------

void FunctionEmitter::runWhile(const syntax::While *statement) {
  if (!statement->orelse.empty()) {
    error(diag::LoopElse, statement->range, "`while` with `else`");
    return;
  }
  NameSet assigned;
  addAssignedNames(statement->test, assigned);
  addAssignedNames(statement->body, assigned);
  const Scope before = scope;
  Carried carried(scope, assigned);
  auto loop = mlir::scf::WhileOp::create(builder, location(statement->range), carried.types, carried.inits);
  mlir::OpBuilder::InsertionGuard guard(builder);

  auto openBlock = [&](mlir::Region &region) {
    llvm::SmallVector<mlir::Location> locations(carried.types.size(), loop.getLoc());
    mlir::Block *block = builder.createBlock(&region, {}, carried.types, locations);
    carried.bind(scope, llvm::to_vector_of<mlir::Value>(block->getArguments()));
    return block;
  };
  openBlock(loop.getBefore());
  const Value test = evaluate(statement->test);
  mlir::Value condition;
  if (test.isPoison() || test.tensor())
    condition = test.isPoison() ? nullptr : runtimeCondition(test, statement->test->range);
  else
    error(diag::WhileConstant, statement->test->range, test.repr());
  llvm::SmallVector<mlir::Value> tested;
  if (!collectCarried(*this, carried, tested) || !condition) {
    loop.erase();
    scope = before;
    return;
  }
  mlir::scf::ConditionOp::create(builder, location(statement->test->range), condition, tested);

  openBlock(loop.getAfter());
  ++loopDepth;
  run(statement->body, nullptr);
  --loopDepth;
  checkConstants(*this, before, assigned);
  llvm::SmallVector<mlir::Value> yielded;
  if (!collectCarried(*this, carried, yielded))
    yielded.assign(loop.getAfterArguments().begin(), loop.getAfterArguments().end());
  mlir::scf::YieldOp::create(builder, location(statement->range), yielded);

  scope = before;
  carried.bind(scope, llvm::to_vector_of<mlir::Value>(loop.getResults()));
}
