// `if` and the conditional expression: one side when the condition is known, scf.if otherwise.
// SPDX-License-Identifier: MIT
//
// Exits.cpp handles exits from inside a run-time `if`.
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Merge.h"
#include "compiler/sema/Suggestions.h"

using namespace nereid;
using namespace nereid::sema;

// The rest of a function is emitted twice where both sides of an `if` may or may not return; the number of such copies
// is limited.
static constexpr unsigned maxDuplicatedContinuations = 64;

// What follows an `if` that returns is emitted inside its other side. Ops nested deeper than this exhaust small stacks.
static constexpr unsigned maxNestedContinuations = 1000;

static unsigned depthOf(mlir::Block *block) {
  unsigned depth = 0;
  for (mlir::Operation *op = block->getParentOp(); op; op = op->getParentOp())
    ++depth;
  return depth;
}

Flow TtFunctionEmitter::runIf(const syntax::If *statement, syntax::Block after, const Continuation *rest,
                              bool &tookRest) {
  const Value test = evaluate(statement->test);
  if (test.isPoison()) {
    // Both sides are emitted for their own errors; their values are not used.
    Scope before = scope;
    run(statement->body, nullptr);
    scope = before;
    run(statement->orelse, nullptr);
    scope = std::move(before);
    return Flow::FallsThrough;
  }
  const bool leaves = mayLeave(statement->body) || mayLeave(statement->orelse);
  const Continuation following{after, rest};
  if (!test.tensor()) {
    std::optional<bool> taken = ifTruth(test, statement->test->range);
    if (!taken)
      return Flow::FallsThrough;
    tookRest = leaves;
    return run(*taken ? statement->body : statement->orelse, leaves ? &following : nullptr);
  }
  mlir::Value condition = runtimeCondition(test, statement->test->range);
  if (!condition)
    return Flow::FallsThrough;
  const Continuation *inner = leaves ? &following : nullptr;
  auto thenSide = [&] { run(statement->body, inner); };
  auto elseSide = [&] { run(statement->orelse, inner); };
  if (!leaves) {
    branch(condition, statement->range, thenSide, elseSide);
    return Flow::FallsThrough;
  }
  tookRest = true;
  const bool isDoubled = !alwaysLeaves(statement->body) && !alwaysLeaves(statement->orelse);
  if (isDoubled && ++module.duplicatedContinuations > maxDuplicatedContinuations)
    error(diag::TooManyReturns, statement->range, maxDuplicatedContinuations);
  else if (depthOf(builder.getInsertionBlock()) > maxNestedContinuations)
    error(diag::TooManyReturns, statement->range, maxNestedContinuations);
  else
    splitPath(condition, statement->range, thenSide, elseSide);
  return Flow::Ends;
}

//--- Joining two sides -----------------------------------------------------------------------

std::string nereid::sema::describe(const Value &value) {
  if (const TensorValue *tensor = value.tensor())
    return tensor->type.str();
  return value.kindName() + " " + value.repr();
}

std::string nereid::sema::shown(TtFunctionEmitter &emitter, const Value &value) {
  auto *host = value.get<HostValue>();
  return host ? emitter.module.host.describe(host->object) : value.repr();
}

void TtFunctionEmitter::branch(mlir::Value condition, SourceRange range, PathEmitter thenSide, PathEmitter elseSide) {
  const Scope before = scope;
  mlir::scf::IfOp shell = openIf(*this, condition, range);
  Side sides[2];
  for (int side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    scope = before;
    mlir::Region &region = side == 0 ? shell.getThenRegion() : shell.getElseRegion();
    builder.setInsertionPointToEnd(&region.front());
    side == 0 ? thenSide() : elseSide();
    sides[side] = {&region.front(), std::move(scope), {}};
  }
  scope = before;
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[name, binding] : sides[0].scope)
    names.push_back(name);
  mergeNames(shell, before, sides, names);
}

/// Completes `shell` with the values of `names` on the two sides; `scope` is the scope before the `if` and gets the
/// joined values.
void TtFunctionEmitter::mergeNames(mlir::scf::IfOp shell, const Scope &before, const Side (&sides)[2],
                                   llvm::ArrayRef<llvm::StringRef> names) {
  MergedValues merged;
  llvm::SmallVector<std::pair<llvm::StringRef, Binding>> results;
  for (llvm::StringRef name : names) {
    const auto *thenSide = sides[0].scope.find(name), *elseSide = sides[1].scope.find(name);
    if (thenSide == sides[0].scope.end() || elseSide == sides[1].scope.end()) {
      scope.erase(name); // one of the sides has no value for it
      continue;
    }
    if (unchanged(thenSide->second.value, elseSide->second.value)) {
      scope[name] = thenSide->second; // equal on both sides, possibly changed by both
      continue;
    }
    auto pair = mergeName(name, before, thenSide->second, elseSide->second, {sides[0].block, sides[1].block});
    if (!pair)
      continue;
    results.push_back({name, {pair->first, thenSide->second.where, false}});
    merged.add(pair->first, pair->second);
  }
  mlir::scf::IfOp op = finishIf(builder, shell, merged);
  llvm::SmallVector<mlir::Value> values(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = values;
  for (auto &[name, binding] : results)
    scope[name] = {unflatten(binding.value, remaining), binding.where, false};
}

std::optional<std::pair<Value, Value>> TtFunctionEmitter::mergeName(llvm::StringRef name, const Scope &before,
                                                                    const Binding &thenSide, const Binding &elseSide,
                                                                    std::pair<mlir::Block *, mlir::Block *> blocks) {
  if (thenSide.value.isPoison() || elseSide.value.isPoison()) {
    scope[name] = {Value::poison(), thenSide.where, false};
    return std::nullopt;
  }
  Value thenValue = thenSide.value, elseValue = elseSide.value;
  makeMergeable(*this, blocks, thenValue, elseValue, {thenSide.where, elseSide.where});
  if (sameShape(thenValue, elseValue))
    return std::pair(thenValue, elseValue);
  const auto *was = before.find(name);
  if (was != before.end()) {
    const bool thenChanged = !sameShape(was->second.value, thenValue);
    const Binding &changed = thenChanged ? thenSide : elseSide;
    error(diag::BranchChangesType, changed.where, name, describe(was->second.value), thenChanged ? "then" : "else",
          describe(changed.value));
    lastDiagnostic->note(llvm::formatv("`{0}` gets its first value here", name).str(), fileRange(was->second.where));
  } else {
    error(diag::BranchTypesDiffer, elseSide.where, name, describe(thenValue), describe(elseValue),
          hintForTypes(thenValue, elseValue));
    lastDiagnostic->note(llvm::formatv("`{0}` is assigned here in the then block", name).str(),
                         fileRange(thenSide.where));
  }
  scope[name] = {Value::poison(), thenSide.where, false};
  return std::nullopt;
}

//--- The conditional expression ------------------------------------------------------------

Value TtFunctionEmitter::runtimeSelect(const syntax::IfExp *expression, mlir::Value condition) {
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
  else if (!sameShape(values[0], values[1])) {
    result = error(diag::TernaryTypesDiffer, expression->range, describe(values[0]), describe(values[1]),
                   hintForTypes(values[0], values[1]));
    lastDiagnostic->note("this side is " + describe(values[0]), fileRange(expression->body->range));
    lastDiagnostic->note("this side is " + describe(values[1]), fileRange(expression->orelse->range));
  }
  MergedValues merged;
  if (!result.isPoison())
    merged.add(values[0], values[1]);
  mlir::scf::IfOp op = finishIf(builder, shell, merged);
  if (result.isPoison())
    return result;
  llvm::SmallVector<mlir::Value> results(op.getResults());
  llvm::ArrayRef<mlir::Value> remaining = results;
  return unflatten(values[0], remaining);
}
