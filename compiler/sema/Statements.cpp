// Runs statement lists and reports statements that kernels cannot contain.
// SPDX-License-Identifier: MIT
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/support/MemoryReserve.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

TtFunctionEmitter::TtFunctionEmitter(TtModuleEmitter &module, JitFunction &function)
    : module(module), function(function), builder(module.builder) {}

mlir::Location TtFunctionEmitter::location(SourceRange range) {
  const support::LineColumn begin = function.file->position(range.begin), end = function.file->position(range.end);
  return mlir::FileLineColRange::get(builder.getStringAttr(function.file->name()), begin.line, begin.column, end.line,
                                     end.column);
}

// The limit of statements that a kernel expands to; more would take minutes and gigabytes to compile.
static constexpr int64_t maxStatementsRun = 300'000;

Flow TtFunctionEmitter::run(syntax::Block statements, const Continuation *rest) {
  for (size_t index = 0; index < statements.size(); ++index) {
    if (++module.statementsRun > maxStatementsRun) {
      if (module.statementsRun == maxStatementsRun + 1)
        error(diag::CompileExplodes, statements[index]->range, maxStatementsRun);
      return Flow::Ends;
    }
    if (support::isMemoryShort()) // the driver reports it
      return Flow::Ends;
    bool tookRest = false;
    const Flow flow = runStatement(statements[index], statements.drop_front(index + 1), rest, tookRest);
    if (flow == Flow::Ends || tookRest)
      return flow;
  }
  return rest ? run(rest->rest, rest->next) : Flow::FallsThrough;
}

/// The name of a statement that no kernel can contain, and what to do instead.
static llvm::StringRef adviceFor(syntax::NodeKind kind) {
  using syntax::NodeKind;
  switch (kind) {
  case NodeKind::Import:
  case NodeKind::ImportFrom:
    return "import at module level";
  case NodeKind::Try:
  case NodeKind::Raise:
    return "kernels have no exceptions; use tl.static_assert";
  case NodeKind::Global:
  case NodeKind::Nonlocal:
    return "kernels cannot assign to globals; pass a pointer";
  case NodeKind::ClassDef:
    return "define the class at module level, with @triton.aggregate or as a dataclass";
  case NodeKind::Delete:
    return "leave it out: a kernel's names hold no memory";
  case NodeKind::Match:
    return "write it with `if` and `elif`";
  default:
    return "kernels cannot contain it";
  }
}

Flow TtFunctionEmitter::runStatement(const syntax::Stmt *statement, syntax::Block after, const Continuation *rest,
                                     bool &tookRest) {
  using syntax::NodeKind;
  switch (statement->kind) {
  case NodeKind::Pass:
    return Flow::FallsThrough;
  case NodeKind::ExprStmt:
    runExpressionStatement(llvm::cast<syntax::ExprStmt>(statement));
    return Flow::FallsThrough;
  case NodeKind::Assign:
    runAssign(llvm::cast<syntax::Assign>(statement));
    return Flow::FallsThrough;
  case NodeKind::AugAssign:
    runAugAssign(llvm::cast<syntax::AugAssign>(statement));
    return Flow::FallsThrough;
  case NodeKind::AnnAssign:
    runAnnAssign(llvm::cast<syntax::AnnAssign>(statement));
    return Flow::FallsThrough;
  case NodeKind::Assert:
    runAssert(llvm::cast<syntax::Assert>(statement));
    return Flow::FallsThrough;
  case NodeKind::Return:
    runReturn(llvm::cast<syntax::Return>(statement));
    return Flow::Ends;
  case NodeKind::Break:
    runBreak(statement->range);
    return Flow::Ends;
  case NodeKind::Continue:
    return Flow::Ends;
  case NodeKind::If:
    return runIf(llvm::cast<syntax::If>(statement), after, rest, tookRest);
  case NodeKind::For:
    return runFor(llvm::cast<syntax::For>(statement), after, rest, tookRest);
  case NodeKind::While:
    return runWhile(llvm::cast<syntax::While>(statement), after, rest, tookRest);
  case NodeKind::With:
    runWith(llvm::cast<syntax::With>(statement));
    return Flow::FallsThrough;
  case NodeKind::FunctionDef:
    runFunctionDef(llvm::cast<syntax::FunctionDef>(statement));
    return Flow::FallsThrough;
  default:
    error(diag::UnsupportedStatement, statement->range, syntax::toString(statement->kind), adviceFor(statement->kind));
    poisonNamesOf(statement);
    return Flow::FallsThrough;
  }
}

/// The names that an import or a class would bind are no further errors.
void TtFunctionEmitter::poisonNamesOf(const syntax::Stmt *statement) {
  if (!llvm::isa<syntax::Import, syntax::ImportFrom, syntax::ClassDef>(statement))
    return;
  NameSet names;
  addAssignedNames(syntax::Block(statement), names);
  for (llvm::StringRef name : names)
    scope[name] = {Value::poison(), statement->range, false};
}

/// `assert condition, message` is a call of `tl.device_assert`.
void TtFunctionEmitter::runAssert(const syntax::Assert *statement) {
  llvm::SmallVector<PositionalArgument> args{{evaluate(statement->test), statement->test->range}};
  if (statement->message)
    args.push_back({evaluate(statement->message), statement->message->range});
  if (llvm::none_of(args, [](const PositionalArgument &arg) { return arg.value.isPoison(); }))
    callBuiltin(*findBuiltin("triton.language", "device_assert"), args, {}, statement->range);
}

/// `with f(...) as v`: enters and exits at compile time; the body runs in place.
void TtFunctionEmitter::runWith(const syntax::With *statement) {
  if (statement->isAsync) {
    error(diag::UnsupportedStatement, statement->range, "AsyncWith",
          "kernels are not asynchronous; write a plain `with`");
    return;
  }
  if (mayLeave(statement->body)) {
    error(diag::LeavesWith, statement->range);
    return;
  }
  llvm::SmallVector<std::pair<Value, SourceRange>> entered;
  for (const syntax::WithItem &item : statement->items) {
    const SourceRange range = item.context->range;
    const Value context = evaluate(item.context);
    if (context.tensor() || context.isNumber() || context.isNone() || context.elements()) {
      error(diag::NotAContext, range, describe(context));
      if (item.target)
        assignTo(item.target, Value::poison(), false, item.target->range);
      continue;
    }
    const Value value = call(attribute(context, "__enter__", range), {}, {}, range);
    entered.push_back({context, range});
    if (item.target)
      assignTo(item.target, value, value.isConstant(), item.target->range);
  }
  run(statement->body, nullptr);
  for (const auto &[context, range] : llvm::reverse(entered)) {
    const PositionalArgument nothing[] = {{Value(), range}, {Value(), range}, {Value(), range}};
    call(attribute(context, "__exit__", range), nothing, {}, range);
  }
}

/// The message for dropping the result of this call; nothing for other calls and expressions.
std::optional<std::string> TtFunctionEmitter::resultToUse(const syntax::Expr *expression) {
  auto *call = dyn_cast<syntax::Call>(expression);
  const syntax::Expr *path = call ? call->callee : nullptr;
  while (auto *step = llvm::dyn_cast_or_null<syntax::Attribute>(path))
    path = step->value;
  if (!llvm::isa_and_nonnull<syntax::Name>(path))
    return std::nullopt;
  const size_t before = module.diagnostics.size();
  Value callee = evaluate(call->callee);
  module.diagnostics.truncate(before); // the call itself will report it again
  if (auto *method = callee.get<MethodValue>())
    callee = Value(*method->function); // a copy first: the method owns it
  if (auto *called = callee.get<FunctionValue>())
    return called->function->mustUseResult;
  if (auto *host = callee.get<HostValue>()) {
    const Value message = fromHost(module.host.mustUseResult(host->object), call->callee->range);
    const std::string *text = message.get<std::string>();
    return text ? std::optional(*text) : std::nullopt;
  }
  auto *builtin = callee.get<BuiltinValue>();
  return builtin && !builtin->builtin->mustUseResult.empty() ? std::optional(builtin->builtin->mustUseResult.str())
                                                             : std::nullopt;
}

void TtFunctionEmitter::runExpressionStatement(const syntax::ExprStmt *statement) {
  // A docstring or `...` has no effect.
  if (auto *constant = dyn_cast<syntax::Constant>(statement->value))
    if (constant->constantKind == syntax::ConstantKind::Str || constant->constantKind == syntax::ConstantKind::Ellipsis)
      return;
  const std::optional<std::string> unused = resultToUse(statement->value);
  const Value value = evaluate(statement->value);
  if (unused && !value.isPoison())
    error(diag::ResultUnused, statement->range,
          function.file->text(llvm::cast<syntax::Call>(statement->value)->callee->range), *unused);
}
