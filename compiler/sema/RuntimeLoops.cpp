// Loops that run at run time: scf.for, or scf.while where the body may exit the loop.
// SPDX-License-Identifier: MIT
//
// A loop carries every name that it assigns and that was a tensor before it; names first assigned in the loop end with
// it.
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/LoopHints.h"
#include "compiler/sema/Merge.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

namespace {
/// The names that a loop carries, with their values before it.
struct CarriedNames {
  llvm::SmallVector<std::pair<llvm::StringRef, Binding>> names;
  llvm::SmallVector<mlir::Value> inits;
  llvm::SmallVector<mlir::Type> types;

  CarriedNames(const Scope &scope, const NameSet &assigned) {
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

  /// Binds the carried names to `values`.
  void bind(Scope &scope, llvm::ArrayRef<mlir::Value> values) const {
    for (const auto &[name, binding] : names)
      scope[name] = {unflatten(binding.value, values), binding.where, false};
  }
};
} // namespace

/// The values of the carried names at the end of the body, for the yield. False after an error.
static bool collectCarried(TtFunctionEmitter &emitter, const CarriedNames &carried,
                           llvm::SmallVectorImpl<mlir::Value> &out) {
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
                                   emitter.fileRange(before.where));
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

/// Constants cannot change between iterations of a run-time loop.
static void checkConstants(TtFunctionEmitter &emitter, const Scope &before, const NameSet &assigned) {
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
                                 emitter.fileRange(was->second.where));
  }
}

// --- Exits -----------------------------------------------------------------------------------

namespace {
/// A loop's results beside its carried names: whether it returned, and the tensors that it returned.
struct Results {
  Value returns = false;         ///< a flag, at the end of the body
  std::optional<Binding> result; ///< at the end of the body
  llvm::SmallVector<mlir::Value> inits, yielded;

  /// `builder` is at the end of the body; `before` is the loop.
  Results(TtFunctionEmitter &emitter, const LoopExit &exit, mlir::Operation *before, SourceRange range)
      : returns(exit.returns), result(exit.result) {
    const bool *known = returns.get<bool>();
    if (returns.isPoison() || (known && !*known) || !result || result->value.isPoison()) {
      returns = false;
      return;
    }
    Value flag = emitter.toTensor(returns, range);
    yielded.push_back(flag.tensor()->value);
    addTensors(result->value, yielded);
    mlir::OpBuilder::InsertionGuard guard(emitter.builder);
    emitter.builder.setInsertionPoint(before);
    inits.push_back(emitter.toTensor(Value(false), range).tensor()->value);
    addTensors(placeholderFor(emitter, result->value, range), inits);
  }

  /// The exit after the loop; `values` are the loop's last results.
  LoopExit exitAfter(llvm::ArrayRef<mlir::Value> values) const {
    LoopExit exit;
    if (inits.empty())
      return exit;
    exit.returns = Value::tensor(values.front(), Scalar::Int1);
    values = values.drop_front();
    exit.result = *result;
    exit.result->value = unflatten(result->value, values);
    return exit;
  }

private:
  static void addTensors(const Value &value, llvm::SmallVectorImpl<mlir::Value> &out) {
    llvm::SmallVector<TensorValue> tensors;
    flatten(value, tensors);
    for (const TensorValue &tensor : tensors)
      out.push_back(tensor.value);
  }
};
} // namespace

static llvm::SmallVector<mlir::Value> joinedList(mlir::ValueRange a, mlir::ValueRange b) {
  llvm::SmallVector<mlir::Value> list(a.begin(), a.end());
  list.append(b.begin(), b.end());
  return list;
}

static llvm::SmallVector<mlir::Location> locationsFor(mlir::TypeRange types, mlir::Location loc) {
  return llvm::SmallVector<mlir::Location>(types.size(), loc);
}

/// Whether the loop continues after this iteration, as an i1.
static mlir::Value goesOn(TtFunctionEmitter &emitter, const LoopExit &exit, SourceRange range) {
  const Value stops = emitter.orFlags(exit.breaks, exit.returns, range);
  const Value flag = emitter.toTensor(stops.isPoison() ? Value(false) : stops, range);
  return emitter.unary(syntax::UnaryOperator::Not, flag, range).tensor()->value;
}

//--- for -------------------------------------------------------------------------------------

/// As `#llvm.loop_annotation<licm = #llvm.loop_licm<disable = true, versioningDisable = true>>`.
void sema::forbidHoisting(mlir::Operation *loop) {
  mlir::Builder builder(loop->getContext());
  auto name = [&](llvm::StringRef text) { return builder.getStringAttr(text); };
  const mlir::Attribute yes = builder.getBoolAttr(true);
  auto licm =
      imported::LoopHintAttr::get(name("loop_licm"), {{name("disable"), yes}, {name("versioningDisable"), yes}});
  loop->setAttr("llvm.loop_annotation", imported::LoopHintAttr::get(name("loop_annotation"), {{name("licm"), licm}}));
}

/// The hints of tl.range as attributes on the loop.
static void attachHints(mlir::OpBuilder &builder, mlir::scf::ForOp loop, const RangeValue &range) {
  if (range.numStages)
    loop->setAttr(tt::kNumStages, builder.getI32IntegerAttr(*range.numStages));
  if (range.loopUnrollFactor)
    loop->setAttr(tt::kLoopUnrollFactor, builder.getI32IntegerAttr(*range.loopUnrollFactor));
  if (range.disallowAccMultiBuffer)
    loop->setAttr(tt::kDisallowAccMultiBuffer, builder.getUnitAttr());
  if (range.flatten)
    loop->setAttr(tt::kFlatten, builder.getUnitAttr());
  if (range.warpSpecialize)
    loop->setAttr(*range.warpSpecialize ? tt::kWarpSpecialize : tt::kNoWarpSpecialize, builder.getUnitAttr());
  if (range.disableLicm)
    forbidHoisting(loop);
}

/// An scf.while that replaces `loop` and takes its body:
/// (index, continues, carried..., results...) while continues and index < end.
static mlir::scf::WhileOp asWhile(mlir::OpBuilder &builder, mlir::scf::ForOp loop, mlir::Value isActive,
                                  mlir::ValueRange yielded, const Results &results) {
  mlir::Location loc = loop.getLoc();
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  mlir::Value yes = mlir::arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  llvm::SmallVector<mlir::Value> inits{loop.getLowerBound(), yes};
  inits = joinedList(joinedList(inits, loop.getInitArgs()), results.inits);
  const mlir::ValueRange initRange(inits);
  auto op = mlir::scf::WhileOp::create(builder, loc, initRange.getTypes(), inits);
  mlir::Block *test =
      builder.createBlock(&op.getBefore(), {}, initRange.getTypes(), locationsFor(initRange.getTypes(), loc));
  const auto less = loop.getUnsignedCmp() ? mlir::arith::CmpIPredicate::ult : mlir::arith::CmpIPredicate::slt;
  mlir::Value inRange = mlir::arith::CmpIOp::create(builder, loc, less, test->getArgument(0), loop.getUpperBound());
  mlir::Value both = mlir::arith::AndIOp::create(builder, loc, inRange, test->getArgument(1));
  mlir::scf::ConditionOp::create(builder, loc, both, test->getArguments());

  mlir::Block *body =
      builder.createBlock(&op.getAfter(), {}, initRange.getTypes(), locationsFor(initRange.getTypes(), loc));
  loop.getInductionVar().replaceAllUsesWith(body->getArgument(0));
  for (auto [index, arg] : llvm::enumerate(loop.getRegionIterArgs()))
    arg.replaceAllUsesWith(body->getArgument(2 + index));
  llvm::SmallVector<mlir::Value> ending = joinedList(yielded, results.yielded);
  for (mlir::Value &value : ending) // the index, or a name that the iteration did not assign
    if (auto arg = dyn_cast<mlir::BlockArgument>(value); arg && arg.getOwner() == loop.getBody())
      value = body->getArgument(arg.getArgNumber() == 0 ? 0 : arg.getArgNumber() + 1);
  body->getOperations().splice(body->end(), loop.getBody()->getOperations());
  builder.setInsertionPointToEnd(body);
  mlir::Value next = mlir::arith::AddIOp::create(builder, loc, body->getArgument(0), loop.getStep());
  llvm::SmallVector<mlir::Value> list{next, isActive};
  mlir::scf::YieldOp::create(builder, loc, joinedList(list, ending));
  loop.erase();
  return op;
}

LoopExit TtFunctionEmitter::runtimeFor(const syntax::For *statement, const RangeValue &range) {
  const SourceRange where = statement->iterable->range;
  if (range.step.asInt64() == 0) {
    error(diag::ZeroStep, where);
    return {};
  }
  const std::optional<LoopBounds> bounds = loopBounds(range, where);
  if (!bounds)
    return {};
  NameSet assigned;
  addAssignedNames(statement->body, assigned);
  const Scope before = scope;
  CarriedNames carried(scope, assigned);
  auto op = mlir::scf::ForOp::create(builder, location(statement->range), bounds->lower, bounds->upper, bounds->step,
                                     carried.inits);
  op.setUnsignedCmp(bounds->comparesUnsigned);
  if (op.getBody()->mightHaveTerminator())
    op.getBody()->getTerminator()->erase();

  llvm::SmallVector<mlir::Value> yielded, results;
  LoopExit exit;
  mlir::Operation *ended = op;
  {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(op.getBody());
    carried.bind(scope, llvm::to_vector_of<mlir::Value>(op.getRegionIterArgs()));
    const Value index =
        Value::tensor(bounds->variable(builder, location(where), op.getInductionVar()), Type(bounds->type));
    LoopFrame frame;
    enterLoop(frame);
    assignTo(statement->target, index, false, statement->target->range);
    run(statement->body, nullptr);
    exit = takeExit();
    leaveLoop();
    checkConstants(*this, before, assigned);
    const bool isGood = collectCarried(*this, carried, yielded);
    if (!isGood)
      yielded = carried.inits;
    const bool *breaks = exit.breaks.get<bool>(), *returns = exit.returns.get<bool>();
    const bool neverLeaves = (breaks && !*breaks && returns && !*returns) || exit.breaks.isPoison();
    const Results extra(*this, neverLeaves || !isGood ? LoopExit() : exit, op, statement->range);
    if (neverLeaves) {
      attachHints(builder, op, range);
      mlir::scf::YieldOp::create(builder, location(statement->range), yielded);
      results.assign(op.getResults().begin(), op.getResults().end());
    } else {
      mlir::Value isActive = goesOn(*this, exit, statement->range);
      auto loopOp = asWhile(builder, op, isActive, yielded, extra);
      ended = loopOp;
      if (range.disableLicm)
        forbidHoisting(loopOp);
      results.assign(loopOp.getResults().begin() + 2, loopOp.getResults().end());
    }
    exit = extra.exitAfter(llvm::ArrayRef<mlir::Value>(results).drop_front(carried.inits.size()));
  }
  scope = before;
  carried.bind(scope, results);
  // Most loop variables are not read after the loop: the value is computed only where one is read.
  if (auto *name = dyn_cast<syntax::Name>(statement->target)) {
    const auto *old = before.find(name->id);
    if (!assigned.contains(name->id))
      endedLoops[name->id] = {ended, *bounds, old == before.end() ? Value::poison() : old->second.value};
    scope.erase(name->id);
    // Enclosing loops and branches join the name's value before the loop with its value after it.
    if (old != before.end() && old->second.value.tensor() && old->second.value.tensor()->type == Type(bounds->type))
      if (std::optional<Value> index = lastIndex(name->id))
        scope[name->id] = {*index, where, false};
  }
  return exit;
}

/// The index of the last iteration, and whether the loop ran at all.
static std::pair<mlir::Value, mlir::Value> lastIndexOf(mlir::OpBuilder &builder, const EndedLoop &loop) {
  const mlir::Location loc = loop.op->getLoc();
  if (!isa<mlir::scf::WhileOp>(loop.op))
    return loop.bounds.lastIndex(builder, loc);
  const mlir::Value next = loop.op->getResult(0);
  return {mlir::arith::SubIOp::create(builder, loc, next, loop.bounds.step),
          mlir::arith::CmpIOp::create(builder, loc, mlir::arith::CmpIPredicate::ne, next, loop.bounds.lower)};
}

std::optional<Value> TtFunctionEmitter::lastIndex(llvm::StringRef name) {
  auto found = endedLoops.find(name);
  // After an error the loop op may be erased.
  if (found == endedLoops.end() || module.diagnostics.errorCount() != 0)
    return std::nullopt;
  const EndedLoop &loop = found->second;
  mlir::Block *const around = loop.op->getBlock();
  mlir::Region *region = builder.getInsertionBlock()->getParent();
  while (region && region != around->getParent())
    region = region->getParentRegion();
  if (!region)
    return std::nullopt;
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(loop.op);
  const mlir::Location loc = loop.op->getLoc();
  auto [last, runs] = lastIndexOf(builder, loop);
  last = loop.bounds.variable(builder, loc, last);
  const Type type(loop.bounds.type);
  const TensorValue *tensor = loop.before.tensor();
  const bool wasInteger = tensor ? tensor->type == type : loop.before.integer() != nullptr;
  mlir::Value otherwise = loop.bounds.start();
  if (wasInteger)
    otherwise = (tensor ? loop.before : constantOf(loop.before, type.scalar, {})).tensor()->value;
  return Value::tensor(mlir::arith::SelectOp::create(builder, loc, runs, last, otherwise), type);
}

//--- while -----------------------------------------------------------------------------------

/// The test as an i1, evaluated only where `isActive` (null: always) holds; null after an error or for a loop that
/// never runs.
mlir::Value TtFunctionEmitter::whileTest(const syntax::While *statement, mlir::Value isActive, bool &neverRuns) {
  static constexpr llvm::StringLiteral testName = "<test>";
  const SourceRange range = statement->test->range;
  bool isKnown = false;
  auto evaluateTest = [&] {
    const Value test = evaluate(statement->test);
    mlir::Value condition = test.tensor() ? runtimeCondition(test, range) : nullptr;
    scope[testName] = {condition ? Value::tensor(condition, Scalar::Int1) : Value::poison(), range, false};
    if (test.isPoison() || test.tensor())
      return;
    std::optional<bool> truth = constantTruth(test, range);
    isKnown = truth.has_value();
    neverRuns = isKnown && !*truth;
    if (isKnown && *truth && !isActive)
      error(diag::WhileConstant, range, test.repr());
  };
  if (isActive)
    branch(isActive, range, evaluateTest, [&] { scope[testName] = {Value(false), range, false}; });
  else
    evaluateTest();
  const Value result = scope[testName].value;
  scope.erase(testName);
  if (isKnown)
    return neverRuns ? nullptr : isActive;
  return result.tensor() ? result.tensor()->value : nullptr;
}

/// `loop` with further carried values appended.
static mlir::scf::WhileOp extended(mlir::OpBuilder &builder, mlir::scf::WhileOp loop, const Results &results) {
  if (results.inits.empty())
    return loop;
  mlir::Location loc = loop.getLoc();
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  const llvm::SmallVector<mlir::Value> inits = joinedList(loop.getInits(), results.inits);
  auto op = mlir::scf::WhileOp::create(builder, loc, mlir::ValueRange(inits).getTypes(), inits);
  op->setAttrs(loop->getDiscardableAttrDictionary());
  op.getBefore().takeBody(loop.getBefore());
  op.getAfter().takeBody(loop.getAfter());
  mlir::Operation *condition = op.getBefore().front().getTerminator();
  mlir::Operation *yield = op.getAfter().front().getTerminator();
  for (auto [init, value] : llvm::zip_equal(results.inits, results.yielded)) {
    mlir::Value forwarded = op.getBefore().front().addArgument(init.getType(), loc);
    condition->insertOperands(condition->getNumOperands(), forwarded);
    op.getAfter().front().addArgument(init.getType(), loc);
    yield->insertOperands(yield->getNumOperands(), value);
  }
  loop.erase();
  return op;
}

LoopExit TtFunctionEmitter::runtimeWhile(const syntax::While *statement) {
  NameSet assigned;
  addAssignedNames(statement->test, assigned);
  addAssignedNames(statement->body, assigned);
  const Scope before = scope;
  CarriedNames carried(scope, assigned);
  const bool mayEnd = mayEndLoop(statement->body);
  llvm::SmallVector<mlir::Value> inits = carried.inits;
  if (mayEnd)
    inits.push_back(toTensor(Value(true), statement->range).tensor()->value);
  const llvm::SmallVector<mlir::Type> types(mlir::ValueRange(inits).getTypes());
  auto op = mlir::scf::WhileOp::create(builder, location(statement->range), types, inits);
  mlir::OpBuilder::InsertionGuard guard(builder);
  auto openBlock = [&](mlir::Region &region) {
    mlir::Block *block = builder.createBlock(&region, {}, types, locationsFor(types, op.getLoc()));
    carried.bind(scope, llvm::to_vector_of<mlir::Value>(block->getArguments()));
    return block;
  };
  mlir::Block *test = openBlock(op.getBefore());
  bool neverRuns = false;
  mlir::Value condition = whileTest(statement, mayEnd ? test->getArguments().back() : mlir::Value(), neverRuns);
  llvm::SmallVector<mlir::Value> tested, yielded;
  if (!collectCarried(*this, carried, tested) || !condition) {
    op.erase();
    scope = before;
    return {};
  }
  if (mayEnd)
    tested.push_back(test->getArguments().back());
  mlir::scf::ConditionOp::create(builder, location(statement->test->range), condition, tested);

  openBlock(op.getAfter());
  LoopFrame frame;
  enterLoop(frame);
  run(statement->body, nullptr);
  LoopExit exit = takeExit();
  leaveLoop();
  checkConstants(*this, before, assigned);
  const bool isGood = collectCarried(*this, carried, yielded);
  if (!isGood)
    yielded.assign(op.getAfterArguments().begin(), op.getAfterArguments().begin() + carried.inits.size());
  if (mayEnd)
    yielded.push_back(goesOn(*this, exit, statement->range));
  const Results extra(*this, isGood ? exit : LoopExit(), op, statement->range);
  mlir::scf::YieldOp::create(builder, location(statement->range), yielded);
  op = extended(builder, op, extra);

  scope = before;
  const llvm::SmallVector<mlir::Value> results(op.getResults());
  carried.bind(scope, results);
  return extra.exitAfter(llvm::ArrayRef<mlir::Value>(results).drop_front(types.size()));
}

Flow TtFunctionEmitter::runWhile(const syntax::While *statement, syntax::Block after, const Continuation *rest,
                                 bool &tookRest) {
  if (!statement->orelse.empty()) {
    error(diag::LoopElse, statement->range, "`while` with `else`");
    return Flow::FallsThrough;
  }
  return afterLoop(runtimeWhile(statement), statement->range, after, rest, tookRest);
}
