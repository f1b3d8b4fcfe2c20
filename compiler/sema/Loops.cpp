// `for` over ranges: chooses the kind of loop and unrolls compile-time loops.
// SPDX-License-Identifier: MIT
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Merge.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace nereid;
using namespace nereid::sema;

// The limit of unrolled iterations; nested loops count together.
static constexpr int64_t maxUnrolledIterations = 100'000;

/// How to loop over what is no range.
static llvm::StringRef hintForIterator(const Value &iterable) {
  if (iterable.elements())
    return "; loop over its indices: `for i in tl.static_range(len(values))`";
  if (iterable.tensor())
    return "; loop over indices, and load the element of each from memory";
  return "; put what is iterated over into a tuple, and loop over its indices with `tl.static_range`";
}

Flow TtFunctionEmitter::runFor(const syntax::For *statement, syntax::Block after, const Continuation *rest,
                               bool &tookRest) {
  if (statement->isAsync) {
    error(diag::UnsupportedStatement, statement->range, "AsyncFor",
          "kernels are not asynchronous; write a plain `for`");
    return Flow::FallsThrough;
  }
  const Value iterable = evaluate(statement->iterable);
  if (iterable.isPoison()) {
    checkBodyAlone(statement);
    return Flow::FallsThrough;
  }
  auto *range = iterable.get<std::shared_ptr<const RangeValue>>();
  if (!range) {
    error(diag::IteratorNotRange, statement->iterable->range, iterable.kindName(), hintForIterator(iterable));
    checkBodyAlone(statement);
    return Flow::FallsThrough;
  }
  if (!statement->orelse.empty()) {
    if (!(*range)->isStatic || mayLeave(statement->body) || mayLeave(statement->orelse)) {
      error(diag::LoopElse, statement->range, "`for` with `else`");
      return Flow::FallsThrough;
    }
    module.diagnostics.report(diag::ElseEachTime, module.userFileRange(fileRange(statement->range), function));
  }
  const LoopExit exit = (*range)->isStatic ? unroll(statement, **range) : runtimeFor(statement, **range);
  return afterLoop(exit, statement->range, after, rest, tookRest);
}

/// Emits the body for its own errors, with a poisoned loop variable.
void TtFunctionEmitter::checkBodyAlone(const syntax::For *statement) {
  Scope before = scope;
  LoopFrame frame;
  enterLoop(frame);
  assignTo(statement->target, Value::poison(), false, statement->target->range);
  run(statement->body, nullptr);
  leaveLoop();
  scope = std::move(before);
}

//--- Unrolled ------------------------------------------------------------------------------

/// The trip count; nothing after an error.
std::optional<int64_t> TtFunctionEmitter::staticTripCount(const RangeValue &range, SourceRange where) {
  std::optional<int64_t> begin = constantInt(range.begin, where, "start of static_range");
  std::optional<int64_t> end = constantInt(range.end, where, "end of static_range");
  std::optional<int64_t> step = constantInt(range.step, where, "step of static_range");
  if (!begin || !end || !step)
    return std::nullopt;
  if (*step == 0) {
    error(diag::ZeroStep, where);
    return std::nullopt;
  }
  const __int128 distance = static_cast<__int128>(*end) - *begin;
  const __int128 count = *step > 0 ? (distance + *step - 1) / *step : (distance + *step + 1) / *step;
  if (count > maxUnrolledIterations) {
    error(diag::UnrollTooLong, where, static_cast<int64_t>(count), maxUnrolledIterations);
    return std::nullopt;
  }
  module.unrolledIterations += std::max<int64_t>(count, 0);
  if (module.unrolledIterations > maxUnrolledIterations) {
    error(diag::UnrollNested, where, maxUnrolledIterations);
    return std::nullopt;
  }
  return static_cast<int64_t>(count);
}

LoopExit TtFunctionEmitter::unroll(const syntax::For *statement, const RangeValue &range) {
  std::optional<int64_t> count = staticTripCount(range, statement->iterable->range);
  if (!count)
    return {};
  const size_t errorsBefore = module.diagnostics.errorCount();
  LoopFrame frame;
  enterLoop(frame);
  LoopExit exit;
  for (int64_t i = 0; i < *count; ++i) {
    const int64_t index = *range.begin.asInt64() + i * *range.step.asInt64();
    exit = takeExit();
    const Value stops = orFlags(exit.breaks, exit.returns, statement->range);
    const bool *known = stops.get<bool>();
    auto once = [&] {
      frame.live = visibleNames();
      clearFlags();
      assignTo(statement->target, Value::integer(index), true, statement->target->range);
      run(statement->body, nullptr);
      run(statement->orelse, nullptr);
    };
    putExit(exit);
    if (known && *known)
      break;
    if (known || stops.isPoison())
      once();
    else
      emitUnlessExited(stops, statement->range, exit, once);
    if (module.diagnostics.errorCount() != errorsBefore)
      break; // further iterations would repeat the same errors
  }
  exit = takeExit();
  leaveLoop();
  return exit;
}

/// Runs `once` where the loop was not left earlier, and joins the result with the state before.
void TtFunctionEmitter::emitUnlessExited(const Value &stops, SourceRange range, const LoopExit &exit,
                                         PathEmitter once) {
  const Value goesOn = unary(syntax::UnaryOperator::Not, stops, range);
  LoopFrame joined;
  joined.outer = loop;
  joined.live = visibleNames();
  LoopFrame *const own = loop;
  loop = &joined;
  splitPath(
      goesOn.tensor()->value, range,
      [&] {
        loop = own;
        once();
        loop = &joined;
      },
      [&] { putExit(exit); });
  loop = own;
}
