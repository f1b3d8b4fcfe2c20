// `return`, `break` and `continue` from inside branches and loops.
// SPDX-License-Identifier: MIT
//
// The statements after an `if` that may exit are emitted inside the sides that do not exit, so that every path ends at
// the end of the function or of the loop's body:
//   if c: return          scf.if c { } else { rest }
//   rest
// In a loop the end of each path sets flags under names that no kernel can contain; the loop reads them.
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Merge.h"
#include "compiler/sema/Suggestions.h"

using namespace nereid;
using namespace nereid::sema;

static constexpr llvm::StringLiteral breakFlag = "<break>";
static constexpr llvm::StringLiteral returnFlag = "<return>";
static constexpr llvm::StringLiteral returnValue = "<returned>";

// --- Exits ---------------------------------------------------------------------------------

void TtFunctionEmitter::leave(const Value &value, SourceRange range) {
  returnedAt = range;
  if (!loop) {
    returned = value;
    hasReturned = true;
    return;
  }
  scope[returnFlag] = {Value(true), range, false};
  scope[returnValue] = {value, range, false};
}

void TtFunctionEmitter::runReturn(const syntax::Return *statement) {
  leave(statement->value ? evaluate(statement->value) : Value(), statement->range);
}

void TtFunctionEmitter::runBreak(SourceRange range) { scope[breakFlag] = {Value(true), range, false}; }

// --- Branches ------------------------------------------------------------------------------

/// The value that the current path returns, if it returns.
std::optional<Binding> TtFunctionEmitter::returnedHere() const {
  if (!loop)
    return hasReturned ? std::optional(Binding{returned, returnedAt, false}) : std::nullopt;
  const auto *found = scope.find(returnValue);
  return found == scope.end() ? std::nullopt : std::optional(found->second);
}

/// Converts the returned values of both sides to one type; false after an error. A side that ends without `return` gets
/// a placeholder.
bool TtFunctionEmitter::joinReturned(Side (&sides)[2], SourceRange range) {
  for (int side = 0; side < 2; ++side)
    if (Side &other = sides[1 - side]; !sides[side].returned && other.returned) {
      if (!loop && !other.returned->value.isNone())
        module.diagnostics.report(diag::PathWithoutReturn,
                                  module.userFileRange(fileRange(other.returned->where), function),
                                  describe(other.returned->value));
      mlir::OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPointToEnd(sides[side].block);
      sides[side].returned = {placeholderFor(*this, other.returned->value, range), other.returned->where, false};
    }
  if (!sides[0].returned)
    return true;
  Binding &thenSide = *sides[0].returned, &elseSide = *sides[1].returned;
  bool isGood = !thenSide.value.isPoison() && !elseSide.value.isPoison();
  if (isGood)
    makeMergeable(*this, {sides[0].block, sides[1].block}, thenSide.value, elseSide.value,
                  {thenSide.where, elseSide.where});
  if (isGood && !sameShape(thenSide.value, elseSide.value)) {
    error(diag::ReturnTypesDiffer, elseSide.where, describe(thenSide.value), describe(elseSide.value),
          hintForTypes(thenSide.value, elseSide.value));
    if (thenSide.where != elseSide.where)
      lastDiagnostic->note(llvm::formatv("{0} is returned here", describe(thenSide.value)).str(),
                           fileRange(thenSide.where));
    isGood = false;
  }
  if (!isGood)
    thenSide.value = elseSide.value = Value();
  for (Side &side : sides)
    side.scope[returnValue] = *side.returned;
  return isGood;
}

void TtFunctionEmitter::splitPath(mlir::Value condition, SourceRange range, PathEmitter thenSide,
                                  PathEmitter elseSide) {
  const Scope before = scope;
  mlir::scf::IfOp shell = openIf(*this, condition, range);
  Side sides[2];
  for (int side = 0; side < 2; ++side) {
    mlir::OpBuilder::InsertionGuard guard(builder);
    scope = before;
    returned = Value();
    returnedAt = range;
    hasReturned = false;
    mlir::Region &region = side == 0 ? shell.getThenRegion() : shell.getElseRegion();
    builder.setInsertionPointToEnd(&region.front());
    side == 0 ? thenSide() : elseSide();
    std::optional<Binding> result = returnedHere();
    sides[side] = {&region.front(), std::move(scope), std::move(result)};
  }
  scope = before;
  const bool isGood = joinReturned(sides, range);
  llvm::SmallVector<llvm::StringRef> names{returnValue};
  if (loop) {
    names.append({breakFlag, returnFlag});
    names.append(loop->live);
  }
  mergeNames(shell, before, sides, names);
  if (!isGood)
    scope[returnValue].value = Value::poison();
  if (loop)
    return;
  hasReturned = scope.contains(returnValue);
  returned = hasReturned ? scope[returnValue].value : Value();
  returnedAt = hasReturned ? scope[returnValue].where : range;
  scope.erase(returnValue);
}

//--- Loops ---------------------------------------------------------------------------------

void TtFunctionEmitter::enterLoop(LoopFrame &frame) {
  frame.outer = loop;
  frame.live = visibleNames();
  loop = &frame;
  clearFlags();
}

llvm::SmallVector<llvm::StringRef> TtFunctionEmitter::visibleNames() const {
  llvm::SmallVector<llvm::StringRef> names;
  for (const auto &[name, binding] : scope)
    if (!name.starts_with("<"))
      names.push_back(name);
  return names;
}

void TtFunctionEmitter::clearFlags() {
  scope[breakFlag] = {Value(false), {}, false};
  scope[returnFlag] = {Value(false), {}, false};
  scope.erase(returnValue);
}

LoopExit TtFunctionEmitter::takeExit() {
  LoopExit exit;
  exit.breaks = scope[breakFlag].value;
  exit.returns = scope[returnFlag].value;
  if (const auto *found = scope.find(returnValue); found != scope.end())
    exit.result = found->second;
  for (llvm::StringRef name : {breakFlag, returnFlag, returnValue})
    scope.erase(name);
  return exit;
}

void TtFunctionEmitter::putExit(const LoopExit &exit) {
  scope[breakFlag] = {exit.breaks, {}, false};
  scope[returnFlag] = {exit.returns, {}, false};
  if (exit.result)
    scope[returnValue] = *exit.result;
}

void TtFunctionEmitter::leaveLoop() {
  loop = loop->outer;
  if (loop)
    clearFlags(); // a path that had left the outer loop does not get here
  else
    for (llvm::StringRef name : {breakFlag, returnFlag, returnValue})
      scope.erase(name);
}

/// `a or b` of flags, each either a constant or a tensor.
Value TtFunctionEmitter::orFlags(const Value &a, const Value &b, SourceRange range) {
  const bool *knownA = a.get<bool>(), *knownB = b.get<bool>();
  if (knownA || knownB)
    return knownA ? (*knownA ? a : b) : (*knownB ? b : a);
  return binary(syntax::BinaryOperator::BitOr, a, b, range, range);
}

Flow TtFunctionEmitter::afterLoop(const LoopExit &exit, SourceRange range, syntax::Block after,
                                  const Continuation *rest, bool &tookRest) {
  if (exit.returns.isPoison() || !exit.result)
    return Flow::FallsThrough;
  auto leaves = [&] { leave(exit.result->value, exit.result->where); };
  if (const bool *known = exit.returns.get<bool>()) {
    if (*known)
      leaves();
    return *known ? Flow::Ends : Flow::FallsThrough;
  }
  tookRest = true;
  const Continuation following{after, rest};
  splitPath(exit.returns.tensor()->value, range, leaves, [&] { run({}, &following); });
  return Flow::Ends;
}
