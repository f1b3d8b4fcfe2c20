// Collects assigned names, read names and exits by walks over statements, targets and expressions.
// SPDX-License-Identifier: MIT
#include "compiler/sema/AssignedNames.h"

#include "compiler/syntax/AstChildren.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::cast;
using llvm::dyn_cast;
using llvm::isa;

static void addTarget(const syntax::Expr *target, NameSet &names) {
  if (auto *name = dyn_cast<syntax::Name>(target))
    names.insert(name->id);
  else if (auto *tuple = dyn_cast<syntax::Tuple>(target))
    for (const syntax::Expr *element : tuple->elements)
      addTarget(element, names);
  else if (auto *list = dyn_cast<syntax::List>(target))
    for (const syntax::Expr *element : list->elements)
      addTarget(element, names);
  else if (auto *starred = dyn_cast<syntax::Starred>(target))
    addTarget(starred->value, names);
}

void nereid::sema::addAssignedNames(const syntax::Expr *expression, NameSet &names) {
  if (!expression || isa<syntax::Lambda>(expression))
    return;
  syntax::forEachChild(expression, [&](const syntax::Expr *child) { addAssignedNames(child, names); });
  if (auto *named = dyn_cast<syntax::NamedExpr>(expression))
    names.insert(named->target->id);
}

static void addTargetsOf(const syntax::Stmt *statement, NameSet &names) {
  if (auto *assign = dyn_cast<syntax::Assign>(statement))
    for (const syntax::Expr *target : assign->targets)
      addTarget(target, names);
  else if (auto *augmented = dyn_cast<syntax::AugAssign>(statement))
    addTarget(augmented->target, names);
  else if (auto *annotated = dyn_cast<syntax::AnnAssign>(statement); annotated && annotated->value)
    addTarget(annotated->target, names);
  else if (auto *loop = dyn_cast<syntax::For>(statement))
    addTarget(loop->target, names);
  else if (auto *with = dyn_cast<syntax::With>(statement))
    for (const syntax::WithItem &item : with->items)
      if (item.target)
        addTarget(item.target, names);
}

static void addImportedNames(llvm::ArrayRef<syntax::Alias> imports, NameSet &names) {
  for (const syntax::Alias &alias : imports)
    names.insert(alias.asName.empty() ? alias.name.split('.').first : alias.asName);
}

void nereid::sema::addAssignedNames(syntax::Block statements, NameSet &names) {
  for (const syntax::Stmt *statement : statements) {
    if (auto *nested = dyn_cast<syntax::FunctionDef>(statement)) {
      names.insert(nested->name);
      continue;
    }
    if (auto *type = dyn_cast<syntax::ClassDef>(statement)) {
      names.insert(type->name);
      continue;
    }
    if (auto *imports = dyn_cast<syntax::Import>(statement))
      addImportedNames(imports->names, names);
    else if (auto *imports = dyn_cast<syntax::ImportFrom>(statement))
      addImportedNames(imports->names, names);
    addTargetsOf(statement, names);
    syntax::forEachChild(
        statement, [&](const syntax::Expr *child) { addAssignedNames(child, names); },
        [&](const syntax::Stmt *child) { addAssignedNames(syntax::Block(child), names); });
  }
}

bool nereid::sema::mayBind(syntax::Block statements, llvm::StringRef name) {
  NameSet names;
  addAssignedNames(statements, names);
  return names.contains(name) || names.contains("*");
}

const syntax::Stmt *nereid::sema::lastAssignment(syntax::Block statements, llvm::StringRef name, uint32_t offset) {
  const syntax::Stmt *last = nullptr;
  for (const syntax::Stmt *statement : statements) {
    if (statement->range.begin >= offset)
      break;
    NameSet own;
    addTargetsOf(statement, own);
    if (own.contains(name) && statement->range.end <= offset)
      last = statement;
    if (isa<syntax::FunctionDef>(statement))
      continue;
    syntax::forEachChild(
        statement, [](const syntax::Expr *) {},
        [&](const syntax::Stmt *child) {
          if (const syntax::Stmt *inner = lastAssignment(syntax::Block(child), name, offset))
            last = inner;
        });
  }
  return last;
}

//--- Free names ----------------------------------------------------------------------------

static void addReads(const syntax::Stmt *statement, NameSet &reads);

static void addParameters(llvm::ArrayRef<syntax::Parameter> parameters, NameSet &names) {
  for (const syntax::Parameter &parameter : parameters)
    names.insert(parameter.name);
}

static void addReads(const syntax::Expr *expression, NameSet &reads) {
  if (auto *name = dyn_cast<syntax::Name>(expression))
    reads.insert(name->id);
  auto *lambda = dyn_cast<syntax::Lambda>(expression);
  if (!lambda)
    return syntax::forEachChild(expression, [&](const syntax::Expr *child) { addReads(child, reads); });
  NameSet inner, bound;
  addParameters(lambda->parameters, bound);
  syntax::forEachChild(expression, [&](const syntax::Expr *child) { addReads(child, inner); });
  for (llvm::StringRef name : inner)
    if (!bound.contains(name))
      reads.insert(name);
}

static void addReads(const syntax::Stmt *statement, NameSet &reads) {
  if (auto *nested = dyn_cast<syntax::FunctionDef>(statement)) {
    NameSet inner = freeNames(nested);
    reads.insert(inner.begin(), inner.end());
    return;
  }
  syntax::forEachChild(
      statement, [&](const syntax::Expr *child) { addReads(child, reads); },
      [&](const syntax::Stmt *child) { addReads(child, reads); });
}

NameSet nereid::sema::freeNames(const syntax::FunctionDef *function) {
  NameSet bound, reads, result;
  addParameters(function->parameters, bound);
  addAssignedNames(function->body, bound);
  for (const syntax::Stmt *statement : function->body)
    addReads(statement, reads);
  for (llvm::StringRef name : reads)
    if (!bound.contains(name))
      result.insert(name);
  return result;
}

// --- Exits ---------------------------------------------------------------------------------

namespace {
struct ExitKinds {
  bool returns = false, breaks = false, continues = false;
};
} // namespace

static void addExitKinds(syntax::Block statements, bool isInner, ExitKinds &exits) {
  for (const syntax::Stmt *statement : statements) {
    exits.returns |= isa<syntax::Return>(statement);
    exits.breaks |= isa<syntax::Break>(statement) && !isInner;
    exits.continues |= isa<syntax::Continue>(statement) && !isInner;
    if (isa<syntax::FunctionDef, syntax::ClassDef>(statement))
      continue;
    const bool isLoop = isa<syntax::For, syntax::While>(statement);
    syntax::forEachChild(
        statement, [](const syntax::Expr *) {},
        [&](const syntax::Stmt *child) { addExitKinds(syntax::Block(child), isInner || isLoop, exits); });
  }
}

static ExitKinds exitKindsOf(syntax::Block statements) {
  ExitKinds exits;
  addExitKinds(statements, false, exits);
  return exits;
}

bool nereid::sema::containsReturn(syntax::Block statements) { return exitKindsOf(statements).returns; }

bool nereid::sema::mayLeave(syntax::Block statements) {
  const ExitKinds exits = exitKindsOf(statements);
  return exits.returns || exits.breaks || exits.continues;
}

bool nereid::sema::mayEndLoop(syntax::Block statements) {
  const ExitKinds exits = exitKindsOf(statements);
  return exits.returns || exits.breaks;
}

bool nereid::sema::alwaysLeaves(syntax::Block statements) {
  return llvm::any_of(statements, [](const syntax::Stmt *statement) {
    if (isa<syntax::Return, syntax::Break, syntax::Continue>(statement))
      return true;
    auto *branch = dyn_cast<syntax::If>(statement);
    return branch && alwaysLeaves(branch->body) && alwaysLeaves(branch->orelse);
  });
}
