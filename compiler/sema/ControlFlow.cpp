// `if` and the conditional expression: one side when the condition is known, scf.if when it is not.
// SPDX-License-Identifier: MIT
//
// A `return` inside a runtime `if` makes the statements after the `if` part of
// the side that does not return, so that a function always ends in one place:
//   if c: return          scf.if c { } else { rest }
//   rest
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

// The rest of a function is emitted twice where both sides of an `if` may or
// may not return; beyond this many copies a function must be written otherwise.
static constexpr unsigned maxDuplicatedContinuations = 64;

static bool containsReturn(syntax::Block block) {
  return llvm::any_of(block, [](const syntax::Stmt *statement) {
    if (llvm::isa<syntax::Return>(statement))
      return true;
    if (auto *branch = dyn_cast<syntax::If>(statement))
      return containsReturn(branch->body) || containsReturn(branch->orelse);
    if (auto *loop = dyn_cast<syntax::For>(statement))
      return containsReturn(loop->body);
    if (auto *loop = dyn_cast<syntax::While>(statement))
      return containsReturn(loop->body);
    return false;
  });
}

Flow FunctionEmitter::runIf(const syntax::If *statement, syntax::Block after, const Continuation *rest,
                            bool &tookRest) {
  const Value test = evaluate(statement->test);
  if (test.isPoison()) {
    // Both sides are looked at for their own errors; no value of theirs is used.
    Scope before = scope;
    run(statement->body, nullptr);
    scope = before;
    run(statement->orelse, nullptr);
    scope = std::move(before);
    return Flow::FallsThrough;
  }
  const bool returns = containsReturn(statement->body) || containsReturn(statement->orelse);
  const Continuation following{after, rest};
  if (!test.tensor()) {
    std::optional<bool> taken = constantTruth(test, statement->test->range);
    if (!taken)
      return Flow::FallsThrough;
    tookRest = returns;
    return run(*taken ? statement->body : statement->orelse, returns ? &following : nullptr);
  }
  mlir::Value condition = runtimeCondition(test, statement->test->range);
  if (!condition)
    return Flow::FallsThrough;
  if (!returns) {
    runtimeIf(statement, condition);
    return Flow::FallsThrough;
  }
  tookRest = true;
  runtimeIfWithReturn(statement, condition, &following);
  return Flow::Returns;
}

//--- Joining two sides -----------------------------------------------------------------------

namespace {
/// What one side of an `if` leaves behind.
struct Side {
  mlir::Block *block = nullptr;
  Scope scope;
  Value returned;
};

/// The values that differ between the sides, in the order of the results.
struct Joined {
  llvm::SmallVector<mlir::Value> thenValues, elseValues;
  void add(const Value &thenValue, const Value &elseValue) {
    llvm::SmallVector<TensorValue> thenTensors, elseTensors;
    flatten(thenValue, thenTensors);
    flatten(elseValue, elseTensors);
    for (auto [a, b] : llvm::zip_equal(thenTensors, elseTensors)) {
      thenValues.push_back(a.value);
      elseValues.push_back(b.value);
    }
  }
};
} // namespace

std::string nereid::sema::describe(const Value &value) {
  if (const TensorValue *tensor = value.tensor())
    return tensor->type.str();
  return value.kindName() + " " + value.repr();
}

/// A number as a tensor made at the end of `block`; other values stay.
static Value asTensorIn(FunctionEmitter &emitter, mlir::Block *block, const Value &value, SourceRange range) {
  if (!value.isNumber())
    return value;
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.setInsertionPointToEnd(block);
  return emitter.toTensor(value, range);
}

/// Makes tensors of the numbers that differ between two sides, those in tuples too; what is equal stays constant.
static void makeJoinable(FunctionEmitter &emitter, std::pair<mlir::Block *, mlir::Block *> blocks, Value &thenValue,
                         Value &elseValue, std::pair<SourceRange, SourceRange> ranges) {
  if (sameShape(thenValue, elseValue))
    return;
  const TupleValue *thenTuple = thenValue.get<TupleValue>(), *elseTuple = elseValue.get<TupleValue>();
  if (!thenTuple || !elseTuple || thenTuple->elements->size() != elseTuple->elements->size()) {
    thenValue = asTensorIn(emitter, blocks.first, thenValue, ranges.first);
    elseValue = asTensorIn(emitter, blocks.second, elseValue, ranges.second);
    return;
  }
  std::vector<Value> thenElements(*thenTuple->elements), elseElements(*elseTuple->elements);
  for (auto [a, b] : llvm::zip_equal(thenElements, elseElements))
    makeJoinable(emitter, blocks, a, b, ranges);
  const auto rebuilt = [](TupleValue tuple, std::vector<Value> elements) {
    tuple.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
    return Value(std::move(tuple));
  };
  thenValue = rebuilt(*thenTuple, std::move(thenElements));
  elseValue = rebuilt(*elseTuple, std::move(elseElements));
}

static bool unchanged(const Value &a, const Value &b) {
  if (a.tensor() && b.tensor())
    return a.tensor()->value == b.tensor()->value;
  if (a.elements() && b.elements())
    return llvm::equal(*a.elements(), *b.elements(), unchanged);
  return a.isConstant() && b.isConstant() && sameConstant(a, b);
}

/// Puts scf.if with the joined values as results in place of `shell`, whose blocks it takes.
static mlir::scf::IfOp finishIf(mlir::OpBuilder &builder, mlir::scf::IfOp shell, const Joined &joined) {
  mlir::OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(shell);
  llvm::SmallVector<mlir::Type> types;
  for (mlir::Value value : joined.thenValues)
    types.push_back(value.getType());
  auto op = mlir::scf::IfOp::create(builder, shell.getLoc(), types, shell.getCondition(), false, false);
  op.getThenRegion().takeBody(shell.getThenRegion());
  op.getElseRegion().takeBody(shell.getElseRegion());
  builder.setInsertionPointToEnd(&op.getThenRegion().front());
  mlir::scf::YieldOp::create(builder, shell.getLoc(), joined.thenValues);
  builder.setInsertionPointToEnd(&op.getElseRegion().front());
  mlir::scf::YieldOp::create(builder, shell.getLoc(), joined.elseValues);
  shell.erase();
  return op;
}

/// An scf.if with two open blocks: no results, no terminators yet.
static mlir::scf::IfOp openIf(FunctionEmitter &emitter, mlir::Value condition, SourceRange range) {
  auto shell = mlir::scf::IfOp::create(emitter.builder, emitter.location(range), mlir::TypeRange(), condition, false,
                                       false);
  mlir::OpBuilder::InsertionGuard guard(emitter.builder);
  emitter.builder.createBlock(&shell.getThenRegion());
  emitter.builder.createBlock(&shell.getElseRegion());
  return shell;
}

//--- Without return ------------------------------------------------------------------------

void FunctionEmitter::runtimeIf(const syntax::If *statement, mlir::Value condition) {
  const Scope before = scope;
  mlir::scf::IfOp shell = openIf(*this, condition, statement->range);
  Side sides[2];
  for (int side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    scope = before;
    mlir::Region &region = side == 0 ? shell.getThenRegion() : shell.getElseRegion();
    builder.setInsertionPointToEnd(&region.front());
    run(side == 0 ? statement->body : statement->orelse, nullptr);
    sides[side] = {&region.front(), std::move(scope), {}};
  }

  Joined joined;
  llvm::SmallVector<std::pair<llvm::StringRef, Binding>> results;
  scope = before;
  for (auto &[name, binding] : sides[0].scope) {
    auto *other = sides[1].scope.find(name);
    if (other == sides[1].scope.end() || unchanged(binding.value, other->second.value))
      continue;
    auto pair = joinName(name, before, binding, other->second, {sides[0].block, sides[1].block});
    if (!pair)
      continue;
    results.push_back({name, {pair->first, binding.where, false}});
    joined.add(pair->first, pair->second);
  }
  for (auto &[name, binding] : sides[0].scope) // equal on both sides, though not what it was before
    if (auto *other = sides[1].scope.find(name); other != sides[1].scope.end() && binding.value.isConstant() &&
                                                 unchanged(binding.value, other->second.value))
      scope[name] = binding;

  mlir::scf::IfOp op = finishIf(builder, shell, joined);
  llvm::SmallVector<mlir::Value> values(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = values;
  for (auto &[name, binding] : results)
    scope[name] = {unflatten(binding.value, remaining), binding.where, false};
}

std::optional<std::pair<Value, Value>> FunctionEmitter::joinName(llvm::StringRef name, const Scope &before,
                                                                 const Binding &thenSide, const Binding &elseSide,
                                                                 std::pair<mlir::Block *, mlir::Block *> blocks) {
  if (thenSide.value.isPoison() || elseSide.value.isPoison()) {
    scope[name] = {Value::poison(), thenSide.where, false};
    return std::nullopt;
  }
  Value thenValue = thenSide.value, elseValue = elseSide.value;
  makeJoinable(*this, blocks, thenValue, elseValue, {thenSide.where, elseSide.where});
  if (sameShape(thenValue, elseValue))
    return std::pair(thenValue, elseValue);
  const auto *was = before.find(name);
  if (was != before.end()) {
    const bool thenChanged = !sameShape(was->second.value, thenValue);
    const Binding &changed = thenChanged ? thenSide : elseSide;
    error(diag::BranchChangesType, changed.where, name, describe(was->second.value), thenChanged ? "then" : "else",
          describe(changed.value));
    lastDiagnostic->note(llvm::formatv("`{0}` gets its first value here", name).str(), place(was->second.where));
  } else {
    error(diag::BranchTypesDiffer, elseSide.where, name, describe(thenValue), describe(elseValue));
    lastDiagnostic->note(llvm::formatv("`{0}` is assigned here in the then block", name).str(), place(thenSide.where));
  }
  scope[name] = {Value::poison(), thenSide.where, false};
  return std::nullopt;
}

//--- With return -----------------------------------------------------------------------------

void FunctionEmitter::runtimeIfWithReturn(const syntax::If *statement, mlir::Value condition,
                                          const Continuation *rest) {
  if (++module.duplicatedContinuations > maxDuplicatedContinuations) {
    error(diag::TooManyReturns, statement->range, maxDuplicatedContinuations);
    return;
  }
  const Scope before = scope;
  mlir::scf::IfOp shell = openIf(*this, condition, statement->range);
  Side sides[2];
  for (int side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    scope = before;
    returned = Value();
    mlir::Region &region = side == 0 ? shell.getThenRegion() : shell.getElseRegion();
    builder.setInsertionPointToEnd(&region.front());
    run(side == 0 ? statement->body : statement->orelse, rest);
    sides[side] = {&region.front(), {}, returned};
  }
  scope = before;
  Value thenValue = sides[0].returned, elseValue = sides[1].returned;
  makeJoinable(*this, {sides[0].block, sides[1].block}, thenValue, elseValue, {statement->range, statement->range});
  if (thenValue.isPoison() || elseValue.isPoison()) {
    returned = Value::poison();
    thenValue = elseValue = Value();
  } else if (!sameShape(thenValue, elseValue)) {
    returned = error(diag::ReturnTypesDiffer, returnedAt, describe(thenValue), describe(elseValue));
    thenValue = elseValue = Value();
  }
  Joined joined;
  joined.add(thenValue, elseValue);
  mlir::scf::IfOp op = finishIf(builder, shell, joined);
  if (returned.isPoison())
    return;
  llvm::SmallVector<mlir::Value> values(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = values;
  returned = unflatten(thenValue, remaining);
}

//--- The conditional expression ------------------------------------------------------------

Value FunctionEmitter::runtimeSelect(const syntax::IfExp *expression, mlir::Value condition) {
  mlir::scf::IfOp shell = openIf(*this, condition, expression->range);
  Value values[2];
  mlir::Block *blocks[2] = {&shell.getThenRegion().front(), &shell.getElseRegion().front()};
  for (int side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(blocks[side]);
    const syntax::Expr *chosen = side == 0 ? expression->body : expression->orelse;
    values[side] = evaluate(chosen);
    if (values[side].isNumber())
      values[side] = toTensor(values[side], chosen->range);
  }
  Value result;
  if (values[0].isPoison() || values[1].isPoison())
    result = Value::poison();
  else if (!sameShape(values[0], values[1]))
    result = error(diag::TernaryTypesDiffer, expression->range, describe(values[0]), describe(values[1]));
  Joined joined;
  if (!result.isPoison())
    joined.add(values[0], values[1]);
  mlir::scf::IfOp op = finishIf(builder, shell, joined);
  if (result.isPoison())
    return result;
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = results;
  return unflatten(values[0], remaining);
}
