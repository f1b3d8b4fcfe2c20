// Binds names: plain and tuple targets, augmented and annotated assignment.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"

#include <cassert>

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;
using llvm::isa;

/// Whether an annotation is constexpr: `tl.constexpr`, `constexpr`, or a string with that word in it.
bool nereid::sema::isConstexprAnnotation(const syntax::Expr *annotation) {
  if (!annotation)
    return false;
  if (auto *name = dyn_cast<syntax::Name>(annotation))
    return name->id == "constexpr";
  if (auto *attribute = dyn_cast<syntax::Attribute>(annotation))
    return attribute->name == "constexpr";
  if (auto *constant = dyn_cast<syntax::Constant>(annotation))
    return constant->constantKind == syntax::ConstantKind::Str && constant->text.contains("constexpr");
  return false;
}

/// The op that defines the value gets the name as its location, so that printed IR reads like the source. The first
/// name is kept.
static void nameResult(const Value &value, llvm::StringRef name) {
  mlir::Operation *op = value.tensor() ? value.tensor()->value.getDefiningOp() : nullptr;
  if (op && op->getNumResults() == 1 && !llvm::isa<mlir::NameLoc>(op->getLoc()))
    op->setLoc(mlir::NameLoc::get(mlir::StringAttr::get(op->getContext(), name), op->getLoc()));
}

void TtFunctionEmitter::assignName(llvm::StringRef name, const Value &value, bool isConstexpr, SourceRange range) {
  endedLoops.erase(name);
  auto *declared = llvm::find(declaredConstexpr, name);
  if (declared != declaredConstexpr.end()) {
    declaredConstexpr.erase(declared);
    isConstexpr = true;
  }
  // A run-time value is not checked against its annotation.
  const Value bound = isConstexpr ? asConstexpr(value) : decay(value, range);
  nameResult(bound, name);
  scope[name] = {bound, range, isConstexpr && bound.isConstant()};
}

/// `a, b = value`: as many elements as targets, one starred target takes the rest.
void TtFunctionEmitter::assignElements(syntax::ExprList targets, const Value &value, bool isConstexpr,
                                       SourceRange range) {
  std::optional<std::vector<Value>> elements = elementsOf(value, range);
  auto poisonAll = [&] {
    for (const syntax::Expr *target : targets)
      assignTo(target, Value::poison(), false, range);
  };
  if (!elements)
    return poisonAll();
  const auto *starred = llvm::find_if(targets, [](const syntax::Expr *target) { return isa<syntax::Starred>(target); });
  const bool hasStar = starred != targets.end();
  if (hasStar ? elements->size() < targets.size() - 1 : elements->size() != targets.size()) {
    const size_t names = targets.size() - hasStar;
    error(diag::UnpackCount, range, elements->size(), (hasStar ? "at least " : "") + std::to_string(names));
    return poisonAll();
  }
  size_t next = 0;
  for (const syntax::Expr *target : targets) {
    auto *star = dyn_cast<syntax::Starred>(target);
    if (!star) {
      assignTo(target, (*elements)[next++], isConstexpr, range);
      continue;
    }
    const size_t count = elements->size() + 1 - targets.size();
    assignTo(star->value, Value::tuple(std::vector<Value>(elements->begin() + next, elements->begin() + next + count)),
             isConstexpr, range);
    next += count;
  }
}

void TtFunctionEmitter::assignTo(const syntax::Expr *target, const Value &value, bool isConstexpr, SourceRange range) {
  using syntax::NodeKind;
  switch (target->kind) {
  case NodeKind::Name:
    return assignName(llvm::cast<syntax::Name>(target)->id, value, isConstexpr, target->range);
  case NodeKind::Tuple:
    return assignElements(llvm::cast<syntax::Tuple>(target)->elements, value, isConstexpr, range);
  case NodeKind::List:
    return assignElements(llvm::cast<syntax::List>(target)->elements, value, isConstexpr, range);
  case NodeKind::Starred: // of a list of targets whose value is not known
    return assignTo(llvm::cast<syntax::Starred>(target)->value, value, isConstexpr, range);
  case NodeKind::Subscript:
    error(diag::AssignSubscript, target->range);
    return;
  case NodeKind::Attribute:
    error(diag::AssignAttribute, target->range, llvm::cast<syntax::Attribute>(target)->name);
    return;
  default:
    assert(false && "the parser lets no other target through");
  }
}

void TtFunctionEmitter::runAssign(const syntax::Assign *statement) {
  if (statement->targets.size() > 1) {
    error(diag::MultipleAssignment, statement->range);
    for (const syntax::Expr *target : statement->targets)
      if (isa<syntax::Name>(target)) // others have errors of their own
        assignTo(target, Value::poison(), false, target->range);
    return;
  }
  assignTo(statement->targets.front(), evaluate(statement->value), false, statement->value->range);
}

void TtFunctionEmitter::runAugAssign(const syntax::AugAssign *statement) {
  auto *name = dyn_cast<syntax::Name>(statement->target);
  if (!name) {
    assignTo(statement->target, Value::poison(), false, statement->range);
    return;
  }
  const Value old = lookup(name->id, name->range);
  const Value operand = evaluate(statement->value);
  const SourceRange op{statement->opRange.begin, statement->opRange.end - 1}; // without the `=`
  const bool keepsConstant = scope.contains(name->id) && scope[name->id].isConstexpr;
  assignName(name->id, binary(statement->op, old, operand, statement->range, op), keepsConstant && operand.isConstant(),
             name->range);
}

void TtFunctionEmitter::runAnnAssign(const syntax::AnnAssign *statement) {
  const bool isConstexpr = isConstexprAnnotation(statement->annotation);
  auto *name = dyn_cast<syntax::Name>(statement->target);
  if (!statement->value) {
    if (isConstexpr && name)
      declaredConstexpr.push_back(name->id);
    return;
  }
  if (isConstexpr && name && scope.contains(name->id)) {
    error(diag::ConstexprReassigned, statement->range, name->id);
    lastDiagnostic->note(llvm::formatv("`{0}` is defined here", name->id).str(), fileRange(scope[name->id].where));
    return;
  }
  assignTo(statement->target, evaluate(statement->value), isConstexpr, statement->value->range);
}
