// Parses the embedded library once and finds its functions by name.
// SPDX-License-Identifier: MIT
#include "compiler/stdlib/Stdlib.h"

#include "compiler/support/Diagnostic.h"
#include "compiler/syntax/Parser.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace nereid;
using namespace nereid::stdlib;

/// The text after `# module: ` on a line of its own.
static llvm::StringRef moduleOf(llvm::StringRef text) {
  llvm::StringRef rest = text.split("# module: ").second;
  return rest.empty() ? llvm::StringRef("triton.language") : rest.split('\n').first.trim();
}

static bool hasDecorator(const syntax::FunctionDef *function, llvm::StringRef name) {
  return llvm::any_of(function->decorators, [&](const syntax::Expr *decorator) {
    auto *simple = llvm::dyn_cast<syntax::Name>(decorator);
    return simple && simple->id == name;
  });
}

static std::string docstringOf(const syntax::FunctionDef *function) {
  if (function->body.empty())
    return "";
  auto *statement = llvm::dyn_cast<syntax::ExprStmt>(function->body.front());
  auto *constant = statement ? llvm::dyn_cast<syntax::Constant>(statement->value) : nullptr;
  return constant && constant->constantKind == syntax::ConstantKind::Str ? constant->text.str() : "";
}

static std::vector<Function> parseAll() {
  std::vector<Function> all;
  for (const Source &source : sources()) {
    auto file = std::make_shared<support::SourceFile>(("<nereid>/" + source.name).str(), source.text.str());
    auto arena = std::make_shared<syntax::AstContext>();
    support::DiagnosticEngine diagnostics;
    const syntax::Module *module = syntax::parseModule(*file, *arena, diagnostics);
    assert(module && !diagnostics.hasErrors() && "the embedded library has a syntax error");
    for (const syntax::Stmt *statement : module->body)
      if (auto *function = llvm::dyn_cast<syntax::FunctionDef>(statement))
        all.push_back({function->name, moduleOf(source.text), hasDecorator(function, "member"), docstringOf(function),
                       file, arena, function});
  }
  return all;
}

llvm::ArrayRef<Function> stdlib::functions() {
  static const std::vector<Function> all = parseAll();
  return all;
}

const Function *stdlib::find(llvm::StringRef module, llvm::StringRef name) {
  for (const Function &function : functions())
    if (function.name == name && (module.empty() || function.module == module))
      return &function;
  return nullptr;
}

const Function *stdlib::findMember(llvm::StringRef name) {
  for (const Function &function : functions())
    if (function.isMember && function.name == name)
      return &function;
  return nullptr;
}
