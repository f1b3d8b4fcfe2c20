// Functions defined inside functions, and lambdas.
// SPDX-License-Identifier: MIT
//
// Such a function holds the values of the enclosing names that it reads. Where the enclosing function names it, the
// values are captured anew each time, as in Python; a function passed elsewhere keeps the values it has.
#include "compiler/sema/AssignedNames.h"
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"

using namespace nereid;
using namespace nereid::sema;

/// Whether a decorator is `triton.jit`, `jit` or a call of one of these.
static bool saysJit(const syntax::Expr *decorator) {
  if (auto *call = llvm::dyn_cast<syntax::Call>(decorator))
    decorator = call->callee;
  if (auto *attribute = llvm::dyn_cast<syntax::Attribute>(decorator))
    return attribute->name == "jit";
  auto *name = llvm::dyn_cast<syntax::Name>(decorator);
  return name && name->id == "jit";
}

/// A copy of `source` whose captured names have their present values in `scope`.
static std::shared_ptr<JitFunction> captureFrom(const JitFunction &source, const Scope &scope) {
  auto copy = std::make_shared<JitFunction>(source);
  copy->captured.clear();
  for (llvm::StringRef name : freeNames(source.definition))
    if (const auto *found = scope.find(name); found != scope.end() && name != source.name)
      copy->captured.push_back({name.str(), found->second.value});
  return copy;
}

Value TtFunctionEmitter::recapture(const Value &value) const {
  const auto *called = value.get<FunctionValue>();
  if (!called || called->function->definer != this)
    return value;
  auto fresh = captureFrom(*called->function, scope);
  return fresh->captured.empty() ? value : Value(FunctionValue{std::move(fresh)});
}

Value TtFunctionEmitter::itself() const { return FunctionValue{captureFrom(function, scope)}; }

Value TtFunctionEmitter::makeFunction(const syntax::FunctionDef *definition,
                                      std::shared_ptr<syntax::AstContext> arena) {
  JitFunction created;
  created.name = definition->name.str();
  created.qualified = function.qualified + ".<locals>." + created.name;
  created.file = function.file;
  created.arena = std::move(arena);
  created.definition = definition;
  created.isStdlib = function.isStdlib;
  created.scope = function.scope;
  created.isNested = true;
  created.definer = this;
  created.definerTree = function.arena;
  for (const syntax::Parameter &parameter : definition->parameters) {
    const bool has = parameter.defaultValue != nullptr;
    created.defaults.push_back(has ? std::optional(evaluate(parameter.defaultValue)) : std::nullopt);
    if (has && !created.defaults.back()->isConstant())
      return error(diag::NestedDefault, parameter.defaultValue->range, parameter.name,
                   describe(*created.defaults.back()));
  }
  return FunctionValue{captureFrom(created, scope)};
}

void TtFunctionEmitter::runFunctionDef(const syntax::FunctionDef *statement) {
  auto refuse = [&](SourceRange range, const char *why) {
    error(diag::NestedFunction, range, statement->name, why);
    scope[statement->name] = {Value::poison(), statement->nameRange, false};
  };
  if (statement->isAsync)
    return refuse(statement->nameRange, "is async");
  if (const auto *other = llvm::find_if_not(statement->decorators, saysJit); other != statement->decorators.end())
    return refuse((*other)->range, "has another decorator");
  const Value created = makeFunction(statement, function.arena);
  scope[statement->name] = {created, statement->nameRange, false};
}

Value TtFunctionEmitter::evaluateLambda(const syntax::Lambda *lambda) {
  auto &known = module.lambdas[lambda];
  if (!known.first) {
    known.second = std::make_shared<syntax::AstContext>();
    syntax::AstContext &arena = *known.second;
    const syntax::Stmt *statements[] = {arena.create<syntax::Return>(lambda->body->range, lambda->body)};
    auto *definition = arena.create<syntax::FunctionDef>(lambda->range);
    definition->name = "<lambda>";
    definition->nameRange = lambda->range;
    definition->parameters = lambda->parameters;
    definition->body = arena.copy<const syntax::Stmt *>(statements);
    known.first = definition;
  }
  return makeFunction(known.first, known.second);
}
