// A host without Python: a .py file whose module level is evaluated by sema's own evaluator.
// SPDX-License-Identifier: MIT
//
// Its parts by file: FileHost (names and values), FileBindings (statements that bind names), FileImports (modules on
// disk and import statements).
#pragma once

#include "compiler/sema/HostEnv.h"
#include "compiler/sema/ModuleFiles.h"
#include "compiler/sema/Sema.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/syntax/Ast.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace nereid::sema {

/// A module: a file's tree, and the meanings of its names that were evaluated so far. A package without `__init__.py`
/// has an empty tree.
struct SourceModule : HostObject {
  std::string name;
  std::shared_ptr<support::SourceFile> file;
  std::string directory; ///< of a package
  std::shared_ptr<syntax::AstContext> arena = std::make_shared<syntax::AstContext>();
  const syntax::Module *tree = nullptr; ///< null where the file has syntax errors
  std::string syntaxError;
  llvm::StringMap<HostResult> known;
  llvm::DenseMap<const syntax::FunctionDef *, std::shared_ptr<JitFunction>> functions; ///< one for each definition
  /// No statement yet of those that may give a name its meaning.
  static constexpr uint32_t wholeModule = UINT32_MAX;
  llvm::StringMap<uint32_t> underway; ///< name -> offset of the statement that is being evaluated for it
  std::map<std::pair<std::string, uint32_t>, HostResult> knownBefore; ///< meanings before the statement at an offset
  llvm::StringSet<> variables;           ///< names of values without `tl.constexpr`, which kernels cannot read
  std::shared_ptr<JitFunction> topLevel; ///< the function whose scope is the module level

  syntax::Block body() const { return tree ? tree->body : syntax::Block(); }
};
using SourceModuleRef = std::shared_ptr<SourceModule>;

/// A name that exists but has no meaning without Python; `reason` says why, where more is known.
struct UnknownObject : HostObject {
  std::string what, reason;
  explicit UnknownObject(std::string what, std::string reason = "")
      : what(std::move(what)), reason(std::move(reason)) {}
};

/// Evaluates module-level imports, constants and functions of one file, and of the files that it imports relatively.
/// Names are evaluated at first use.
class FileHost final : public HostEnv {
public:
  /// Parses `path`; null after an error.
  static std::unique_ptr<FileHost> open(const std::string &path, support::DiagnosticEngine &diagnostics);
  /// Parses source text in memory.
  static std::unique_ptr<FileHost> fromText(std::string name, std::string text, support::DiagnosticEngine &diagnostics);
  ~FileHost() override;

  /// The value of an expression made of literals and names of `tl` ("1024", "-1.5", "tl.float16"); nothing for others.
  static std::optional<Value> constant(const std::string &text);

  /// The function of that name at module level; null where there is none.
  std::shared_ptr<JitFunction> function(llvm::StringRef name);
  /// The file, and every other file whose names it can import: all sources that a kernel of it can depend on.
  std::vector<std::shared_ptr<const support::SourceFile>> files();
  /// The names of all functions decorated with `jit`, for messages.
  std::vector<std::string> kernelNames() const;

  std::optional<HostResult> lookup(const JitFunction &function, llvm::StringRef name) override;
  HostResult attribute(const HostRef &object, llvm::StringRef name) override;
  HostResult item(const HostRef &object, const Value &) override { return refuse(object, "cannot be indexed"); }
  HostResult call(const HostRef &callee, llvm::ArrayRef<Value>, HostKeywords, HostCallSite) override {
    return refuse(callee, "cannot be called");
  }
  HostResult memberOf(const Value &object, llvm::StringRef name) override;
  std::optional<std::variant<bool, HostError>> isInstance(const Value &, const HostRef &) override {
    return std::nullopt;
  }
  HostResult binary(llvm::StringRef op, const Value &left, const Value &right) override;
  std::variant<bool, HostError> truth(const HostRef &object) override {
    return std::get<HostError>(refuse(object, "has no truth value"));
  }
  std::variant<std::vector<Value>, HostError> iterate(const HostRef &object) override {
    return std::get<HostError>(refuse(object, "cannot be iterated over"));
  }
  std::string repr(const HostRef &object) override { return "<" + nameOf(object) + ">"; }
  HostResult format(const Value &object, char conversion, llvm::StringRef spec) override;
  void print(llvm::StringRef text) override;

private:
  FileHost() : module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))) {}

  // FileHost.cpp
  bool load(std::string name, std::string text, support::DiagnosticEngine &diagnostics);
  std::optional<Value> constantNamed(llvm::StringRef name);
  /// The meaning of a module-level name, evaluated once.
  std::optional<HostResult> resolve(const SourceModuleRef &in, llvm::StringRef name);
  bool isGluonJit(const SourceModuleRef &in, const syntax::Expr *decorator);
  /// Whether the meaning of the name is being evaluated, and so is not known yet.
  bool isUnderway(const SourceModule &in, llvm::StringRef name);
  /// The meaning of a name that is being evaluated, before the statement at an offset.
  HostResult resolveBefore(const SourceModuleRef &in, llvm::StringRef name, uint32_t offset);
  HostResult compute(const SourceModuleRef &in, llvm::function_ref<Value(TtFunctionEmitter &)> expression);
  HostResult evaluate(const SourceModuleRef &in, const syntax::Expr *expression);
  static bool isJit(const syntax::FunctionDef *function);
  std::shared_ptr<JitFunction> jitFunction(const SourceModuleRef &in, const syntax::FunctionDef *definition);
  static std::string nameOf(const HostRef &object);
  static HostResult refuse(const HostRef &object, const std::string &why);

  // FileBindings.cpp
  /// The meaning of `name` by its last binding in `statements`, of those that begin before an offset.
  std::optional<HostResult> find(const SourceModuleRef &in, syntax::Block statements, llvm::StringRef name,
                                 uint32_t before = SourceModule::wholeModule);
  std::optional<HostResult> findIn(const SourceModuleRef &in, const syntax::Stmt *statement, llvm::StringRef name,
                                   uint32_t before);
  std::optional<HostResult> findInTry(const SourceModuleRef &in, const syntax::Try *statement, llvm::StringRef name,
                                      uint32_t before);
  std::optional<HostResult> findInIf(const SourceModuleRef &in, const syntax::If *statement, llvm::StringRef name,
                                     uint32_t before);
  std::optional<HostResult> assigned(const SourceModuleRef &in, const syntax::Expr *target, const syntax::Expr *value,
                                     llvm::StringRef name, bool isLast);
  bool importsUnknown(const SourceModuleRef &in, syntax::Block statements);
  HostResult augmented(const SourceModuleRef &in, const syntax::AugAssign *statement, llvm::StringRef name);
  static HostError needsPython(const SourceModuleRef &in, const syntax::Stmt *statement, llvm::StringRef name,
                               llvm::StringRef what);

  // FileImports.cpp
  SourceModuleRef parse(std::string name, std::string path, std::string text, support::DiagnosticEngine &diagnostics);
  SourceModuleRef moduleAt(const ModuleFile &file, llvm::StringRef name);
  SourceModuleRef absoluteModule(llvm::StringRef name);
  SourceModuleRef moduleOf(const SourceModule &in, const syntax::ImportFrom *statement);
  SourceModuleRef submodule(const SourceModule &package, llvm::StringRef name);
  void addImports(const SourceModule &in, syntax::Block statements, std::vector<SourceModuleRef> &modules);
  std::string reasonNotFound(const SourceModule &in, const syntax::Stmt *statement, llvm::StringRef name,
                             unsigned level = 0) const;
  HostResult member(const SourceModuleRef &module, llvm::StringRef name);
  HostResult builtinMember(const SourceModuleRef &in, llvm::StringRef module, const syntax::Alias &alias);
  std::optional<HostResult> findImport(const SourceModuleRef &in, const syntax::Import *statement,
                                       llvm::StringRef name);
  std::optional<HostResult> findImportFrom(const SourceModuleRef &in, const syntax::ImportFrom *statement,
                                           llvm::StringRef name);
  std::optional<HostResult> findStar(const SourceModuleRef &in, const syntax::ImportFrom *statement,
                                     llvm::StringRef name);
  HostResult importName(const SourceModuleRef &in, const syntax::ImportFrom *statement, const syntax::Alias &alias,
                        llvm::StringRef name);

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  support::Options options;
  support::TargetSpec target;
  SourceModuleRef main;
  size_t namesUnderway = 0, namesMetUnderway = 0; ///< of all modules
  llvm::StringMap<SourceModuleRef> modules;       ///< by path, of a package without a file by folder
};

} // namespace nereid::sema
