// Runs statement lists: what falls through, what returns, what a kernel cannot use.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

FunctionEmitter::FunctionEmitter(ModuleEmitter &module, JitFunction &function)
    : module(module), function(function), builder(module.builder) {}

mlir::Location FunctionEmitter::location(SourceRange range) {
  const support::LineColumn begin = function.file->position(range.begin), end = function.file->position(range.end);
  return mlir::FileLineColRange::get(builder.getStringAttr(function.file->name()), begin.line, begin.column, end.line,
                                     end.column);
}

Flow FunctionEmitter::run(syntax::Block statements, const Continuation *rest) {
  for (size_t index = 0; index < statements.size(); ++index) {
    bool tookRest = false;
    const Flow flow = runStatement(statements[index], statements.drop_front(index + 1), rest, tookRest);
    if (flow == Flow::Returns || tookRest)
      return flow;
  }
  return rest ? run(rest->rest, rest->next) : Flow::FallsThrough;
}

/// What a statement that no kernel can contain is called, and what to do instead.
static llvm::StringRef adviceFor(syntax::NodeKind kind) {
  using syntax::NodeKind;
  switch (kind) {
  case NodeKind::FunctionDef:
    return "move the nested function to module level and decorate it with @triton.jit";
  case NodeKind::Break:
  case NodeKind::Continue:
    return "put the rest of the body under an `if`, or loop with `while`";
  case NodeKind::Import:
  case NodeKind::ImportFrom:
    return "import at module level";
  case NodeKind::Try:
  case NodeKind::Raise:
    return "kernels have no exceptions; use tl.static_assert";
  case NodeKind::Global:
  case NodeKind::Nonlocal:
    return "kernels cannot assign to globals; pass a pointer";
  default:
    return "kernels cannot contain it";
  }
}

Flow FunctionEmitter::runStatement(const syntax::Stmt *statement, syntax::Block after, const Continuation *rest,
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
  case NodeKind::Return:
    runReturn(llvm::cast<syntax::Return>(statement));
    return Flow::Returns;
  case NodeKind::If:
    return runIf(llvm::cast<syntax::If>(statement), after, rest, tookRest);
  case NodeKind::For:
    runFor(llvm::cast<syntax::For>(statement));
    return Flow::FallsThrough;
  case NodeKind::While:
    runWhile(llvm::cast<syntax::While>(statement));
    return Flow::FallsThrough;
  case NodeKind::FunctionDef:
    error(diag::NestedFunction, llvm::cast<syntax::FunctionDef>(statement)->nameRange,
          llvm::cast<syntax::FunctionDef>(statement)->name);
    return Flow::FallsThrough;
  default:
    error(diag::UnsupportedStatement, statement->range, syntax::toString(statement->kind),
          adviceFor(statement->kind));
    return Flow::FallsThrough;
  }
}

void FunctionEmitter::runReturn(const syntax::Return *statement) {
  if (loopDepth) {
    error(diag::ReturnInLoop, statement->range);
    return;
  }
  returned = statement->value ? evaluate(statement->value) : Value();
  returnedAt = statement->range;
}

void FunctionEmitter::runExpressionStatement(const syntax::ExprStmt *statement) {
  // A docstring or `...` says nothing.
  if (auto *constant = dyn_cast<syntax::Constant>(statement->value))
    if (constant->constantKind == syntax::ConstantKind::Str || constant->constantKind == syntax::ConstantKind::Ellipsis)
      return;
  evaluate(statement->value);
}
