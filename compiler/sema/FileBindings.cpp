// What the statements at the module level of a kernel's file bind, without Python.
// SPDX-License-Identifier: MIT
//
// The last statement that binds a name gives its meaning. Where that statement reads the name itself, as
// `if X > 8: X = 8` and `X += 1` do, the statements before it give it.
#include "compiler/sema/FileHost.h"

#include "compiler/sema/AssignedNames.h"

#include "llvm/Support/FormatVariadic.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

namespace {
/// The statement that is being evaluated for a name that is looked for.
class StatementUnderway {
public:
  StatementUnderway(SourceModule &in, llvm::StringRef name, uint32_t begin) : in(in), name(name) {
    auto at = in.underway.find(name);
    isUnderway = at != in.underway.end();
    if (isUnderway)
      outer = std::exchange(at->second, begin);
  }
  ~StatementUnderway() {
    if (isUnderway)
      in.underway[name] = outer;
  }

private:
  SourceModule &in;
  llvm::StringRef name;
  bool isUnderway;
  uint32_t outer = 0;
};
} // namespace

HostError FileHost::needsPython(const SourceModuleRef &in, const syntax::Stmt *statement, llvm::StringRef name,
                                llvm::StringRef what) {
  return {"NameError",
          llvm::formatv("`{0}` {1} at {2}:{3}, which needs Python; without it a file's constants are assignments of "
                        "values that are known",
                        name, what, in->file->name(), in->file->position(statement->range.begin).line)
              .str(),
          nullptr};
}

/// Whether the value results from `tl.constexpr(...)`.
static bool isConstexprCall(const syntax::Expr *expression) {
  auto *call = dyn_cast<syntax::Call>(expression);
  return call && isConstexprAnnotation(call->callee);
}

/// The meaning of `name` where `target = value` binds it. The last binding decides whether kernels can read it.
std::optional<HostResult> FileHost::assigned(const SourceModuleRef &in, const syntax::Expr *target,
                                             const syntax::Expr *value, llvm::StringRef name, bool isLast) {
  if (auto *to = dyn_cast<syntax::Name>(target)) {
    if (to->id != name || !value)
      return std::nullopt;
    if (isLast && !isConstexprCall(value))
      in->variables.insert(name);
    return evaluate(in, value);
  }
  auto *targets = dyn_cast<syntax::Tuple>(target);
  auto *values = llvm::dyn_cast_or_null<syntax::Tuple>(value);
  if (!targets || !values || targets->elements.size() != values->elements.size())
    return std::nullopt;
  for (auto [each, its] : llvm::zip_equal(targets->elements, values->elements))
    if (auto found = assigned(in, each, its, name, isLast))
      return found;
  return std::nullopt;
}

/// Whether a name has a meaning without Python.
static bool isUsable(const HostResult &result) {
  auto *value = std::get_if<Value>(&result);
  auto *host = value ? value->get<HostValue>() : nullptr;
  return value && !(host && dynamic_cast<UnknownObject *>(host->object.get()));
}

/// Whether an import among these statements may fail: its module is no file here.
bool FileHost::importsUnknown(const SourceModuleRef &in, syntax::Block statements) {
  return llvm::any_of(statements, [&](const syntax::Stmt *statement) {
    if (!llvm::isa<syntax::Import, syntax::ImportFrom>(statement))
      return false;
    NameSet names;
    addAssignedNames(syntax::Block(statement), names);
    return llvm::any_of(names, [&](llvm::StringRef name) {
      auto found = findIn(in, statement, name, SourceModule::wholeModule);
      return !found || !isUsable(*found);
    });
  });
}

/// The first part of the statement that gives the name a meaning: an import that fails leads to a handler.
std::optional<HostResult> FileHost::findInTry(const SourceModuleRef &in, const syntax::Try *statement,
                                              llvm::StringRef name, uint32_t before) {
  if (auto found = find(in, statement->finalbody, name, before))
    return found;
  std::optional<HostResult> best = find(in, statement->orelse, name, before);
  if (!best)
    best = find(in, statement->body, name, before);
  const bool isCaught = llvm::any_of(statement->handlers,
                                     [&](const syntax::ExceptHandler &handler) { return mayBind(handler.body, name); });
  if (best && isUsable(*best) && isCaught && importsUnknown(in, statement->body))
    return needsPython(in, statement, name, "depends on an import in the `try`");
  if (best && isUsable(*best))
    return best;
  for (const syntax::ExceptHandler &handler : statement->handlers)
    if (auto found = find(in, handler.body, name, before); found && (!best || isUsable(*found)))
      return found;
  return best;
}

std::optional<HostResult> FileHost::findInIf(const SourceModuleRef &in, const syntax::If *statement,
                                             llvm::StringRef name, uint32_t before) {
  // The test of an `if` that does not concern the name may read names that are being evaluated, this one among them.
  if (!mayBind(statement->body, name) && !mayBind(statement->orelse, name))
    return std::nullopt;
  HostResult test = [&] {
    const StatementUnderway here(*in, name, statement->range.begin);
    return evaluate(in, statement->test);
  }();
  auto *value = std::get_if<Value>(&test);
  if (value && (value->isNumber() || value->isNone())) {
    const bool isFalse = value->isNone() || sameConstant(*value, Value::integer(0));
    return find(in, isFalse ? statement->orelse : statement->body, name, before);
  }
  if (!find(in, statement->body, name, before) && !find(in, statement->orelse, name, before))
    return std::nullopt;
  return needsPython(in, statement, name, "depends on the condition of the `if`");
}

HostResult FileHost::augmented(const SourceModuleRef &in, const syntax::AugAssign *statement, llvm::StringRef name) {
  HostResult old = resolveBefore(in, name, statement->range.begin);
  auto *value = std::get_if<Value>(&old);
  if (!value)
    return old;
  return compute(in, [&](TtFunctionEmitter &emitter) {
    const Value operand = emitter.evaluate(statement->value);
    return emitter.binary(statement->op, *value, operand, statement->range, statement->opRange);
  });
}

/// Whether `target` is an element of the object that `name` means.
static bool isElementOf(const syntax::Expr *target, llvm::StringRef name) {
  auto *subscript = dyn_cast<syntax::Subscript>(target);
  auto *object = subscript ? dyn_cast<syntax::Name>(subscript->value) : nullptr;
  return object && object->id == name;
}

static bool isNamed(const syntax::Expr *target, llvm::StringRef name) {
  auto *to = dyn_cast<syntax::Name>(target);
  return to && to->id == name;
}

std::optional<HostResult> FileHost::findIn(const SourceModuleRef &in, const syntax::Stmt *statement,
                                           llvm::StringRef name, uint32_t before) {
  if (auto *attempt = dyn_cast<syntax::Try>(statement))
    return findInTry(in, attempt, name, before);
  if (auto *choice = dyn_cast<syntax::If>(statement))
    return findInIf(in, choice, name, before);
  if (auto *block = dyn_cast<syntax::With>(statement))
    return find(in, block->body, name, before);
  if (llvm::isa<syntax::For, syntax::While>(statement))
    return mayBind(syntax::Block(statement), name)
               ? std::optional<HostResult>(needsPython(in, statement, name, "is assigned by the loop"))
               : std::nullopt;
  const StatementUnderway here(*in, name, statement->range.begin);
  const bool isLast = before == SourceModule::wholeModule;
  if (auto *function = dyn_cast<syntax::FunctionDef>(statement); function && function->name == name) {
    if (isJit(function))
      return Value(FunctionValue{jitFunction(in, function)});
    return Value(HostValue{std::make_shared<UnknownObject>(name.str())});
  }
  if (auto *type = dyn_cast<syntax::ClassDef>(statement); type && type->name == name)
    return Value(HostValue{std::make_shared<UnknownObject>(name.str())});
  if (auto *assign = dyn_cast<syntax::Assign>(statement))
    for (const syntax::Expr *target : assign->targets) {
      if (isElementOf(target, name))
        return needsPython(in, statement, name, "is changed by the assignment");
      if (auto found = assigned(in, target, assign->value, name, isLast))
        return found;
    }
  if (auto *assign = dyn_cast<syntax::AnnAssign>(statement))
    return assigned(in, assign->target, assign->value, name, isLast);
  if (auto *assign = dyn_cast<syntax::AugAssign>(statement); assign && isNamed(assign->target, name)) {
    if (isLast)
      in->variables.insert(name);
    return augmented(in, assign, name);
  }
  if (auto *deletion = dyn_cast<syntax::Delete>(statement))
    for (const syntax::Expr *target : deletion->targets)
      if (isNamed(target, name))
        return needsPython(in, statement, name, "is deleted by the statement");
  if (auto *imports = dyn_cast<syntax::Import>(statement))
    return findImport(in, imports, name);
  if (auto *imports = dyn_cast<syntax::ImportFrom>(statement))
    return findImportFrom(in, imports, name);
  return std::nullopt;
}

std::optional<HostResult> FileHost::find(const SourceModuleRef &in, syntax::Block statements, llvm::StringRef name,
                                         uint32_t before) {
  for (const syntax::Stmt *statement : llvm::reverse(statements))
    if (statement->range.begin < before)
      if (auto found = findIn(in, statement, name, before))
        return found;
  return std::nullopt;
}
