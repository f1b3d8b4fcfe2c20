// Parses targets of assignments and of `del`.
// SPDX-License-Identifier: MIT
#include "compiler/syntax/Diagnostics.h"
#include "compiler/syntax/ExpressionParser.h"

namespace nereid::syntax {

// Targets before `in` or of `del`: `a`, `a, b`, `(a, b)`, `*a, b`.
bool ExpressionParser::parseTargets(llvm::StringRef verb, Items &targets, bool &hasComma) {
  auto parseTarget = [&]() -> const Expr * {
    if (!isAt(TokenKind::Star))
      return parseBitOr();
    return parseStarExpression(/*allowNamed=*/false);
  };
  const Expr *first = parseTarget();
  if (!first)
    return false;
  targets.push_back(first);
  hasComma = isAt(TokenKind::Comma);
  if (!hasComma && llvm::isa<Starred>(first)) {
    report(diag::MisplacedStar, first->range);
    return false;
  }
  while (accept(TokenKind::Comma) && canStartExpression(peek().kind)) {
    targets.push_back(parseTarget());
    if (!targets.back())
      return false;
  }
  return checkTargets(targets, verb);
}

const Expr *ExpressionParser::parseTargetList(llvm::StringRef verb) {
  uint32_t begin = here();
  Items targets;
  bool hasComma = false;
  if (!parseTargets(verb, targets, hasComma))
    return nullptr;
  if (!hasComma)
    return targets.front();
  return finish(create<Tuple>(begin, targets));
}

static ExprList elementsOf(const Expr *target) {
  if (const auto *tuple = llvm::dyn_cast<Tuple>(target))
    return tuple->elements;
  return llvm::cast<List>(target)->elements;
}

bool ExpressionParser::checkTargets(ExprList targets, llvm::StringRef verb) {
  bool hasStarred = false;
  for (const Expr *target : targets) {
    if (!checkTarget(target, verb))
      return false;
    if (hasStarred && llvm::isa<Starred>(target)) {
      report(diag::SeveralStarredTargets, target->range);
      return false;
    }
    hasStarred |= llvm::isa<Starred>(target);
  }
  return true;
}

// The nesting limit bounds the recursion: tuples and lists nest only in brackets.
bool ExpressionParser::checkTarget(const Expr *target, llvm::StringRef verb) {
  bool isDelete = verb == "delete";
  switch (target->kind) {
  case NodeKind::Name:
  case NodeKind::Attribute:
  case NodeKind::Subscript:
    return true;
  case NodeKind::Starred:
    if (!isDelete)
      return checkTarget(llvm::cast<Starred>(target)->value, verb);
    break;
  case NodeKind::Tuple:
  case NodeKind::List:
    return checkTargets(elementsOf(target), verb);
  default:
    break;
  }
  report(diag::InvalidTarget, target->range, verb, describe(*target), isDelete ? "deleted" : "assigned to");
  return false;
}

// The target of `+=` or of an annotation.
bool ExpressionParser::checkSingleTarget(const Expr *target, llvm::StringRef ofWhat) {
  if (llvm::isa<Name, Attribute, Subscript>(target))
    return true;
  report(diag::InvalidSingleTarget, target->range, describe(*target), ofWhat, "name, attribute or item");
  return false;
}

} // namespace nereid::syntax
