// Evaluates the module level of a kernel's .py file without Python.
// SPDX-License-Identifier: MIT
//
// The module level is parsed, not run: the last statement that binds a name gives its meaning, which is evaluated at
// first use. Names other than imports of built-in modules, constants and jit functions are unknown, and using them is
// an error.
#include "compiler/sema/FileHost.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/syntax/Parser.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

namespace {
class FileHostImpl;

/// One file: its tree, and the meanings of its names that were evaluated so far.
struct SourceModule : HostObject {
  std::shared_ptr<support::SourceFile> file;
  std::shared_ptr<syntax::AstContext> arena = std::make_shared<syntax::AstContext>();
  const syntax::Module *tree = nullptr;
  llvm::StringMap<HostResult> known;
  llvm::StringMap<bool> underway;
  std::shared_ptr<JitFunction> topLevel; ///< the function whose scope is the module level
};

/// A name that exists but has no meaning without Python.
struct UnknownObject : HostObject {
  std::string what;
  explicit UnknownObject(std::string what) : what(std::move(what)) {}
};

class FileHostImpl final : public FileHost {
public:
  FileHostImpl() : module(mlir::ModuleOp::create(mlir::UnknownLoc::get(&context))) {}
  /// Clears the names: a file's names own its functions, and these own the file, so that neither would be freed.
  ~FileHostImpl() override {
    if (main)
      main->known.clear();
    for (auto &file : imported)
      if (file.second)
        file.second->known.clear();
  }

  bool load(std::string name, std::string text, support::DiagnosticEngine &diagnostics) {
    main = parseModule(std::move(name), std::move(text), diagnostics);
    return main != nullptr;
  }

  std::shared_ptr<JitFunction> function(llvm::StringRef name) override {
    std::optional<HostResult> found = resolve(main, name);
    auto *value = found ? std::get_if<Value>(&*found) : nullptr;
    auto *function = value ? value->get<FunctionValue>() : nullptr;
    return function ? function->function : nullptr;
  }
  std::vector<std::string> kernelNames() const override;
  std::vector<std::shared_ptr<const support::SourceFile>> files() override;
  std::optional<Value> constantNamed(llvm::StringRef name) {
    std::optional<HostResult> found = resolve(main, name);
    auto *value = found ? std::get_if<Value>(&*found) : nullptr;
    return value && value->isConstant() && !value->is<HostValue>() ? std::optional(*value) : std::nullopt;
  }

  std::optional<HostResult> lookup(const JitFunction &function, llvm::StringRef name) override;
  HostResult attribute(const HostRef &object, llvm::StringRef name) override {
    return refuse(object, "has no attribute `" + name.str() + "`");
  }
  HostResult item(const HostRef &object, const Value &) override { return refuse(object, "cannot be indexed"); }
  HostResult call(const HostRef &callee, llvm::ArrayRef<Value>, HostKeywords, HostCallSite) override {
    return refuse(callee, "cannot be called");
  }
  HostResult memberOf(const Value &object, llvm::StringRef name) override {
    return HostError{"AttributeError",
                     llvm::formatv("`{0}` has no attribute `{1}` without Python", object.kindName(), name).str(),
                     nullptr};
  }
  std::optional<std::variant<bool, HostError>> isInstance(const Value &, const HostRef &) override {
    return std::nullopt;
  }
  HostResult binary(llvm::StringRef op, const Value &, const Value &) override {
    return HostError{"TypeError", "`" + op.str() + "` needs Python for these operands", nullptr};
  }
  std::variant<bool, HostError> truth(const HostRef &object) override {
    return std::get<HostError>(refuse(object, "has no truth value"));
  }
  std::variant<std::vector<Value>, HostError> iterate(const HostRef &object) override {
    return std::get<HostError>(refuse(object, "cannot be iterated over"));
  }
  std::string repr(const HostRef &object) override { return "<" + nameOf(object) + ">"; }
  HostResult format(const Value &object, char conversion, llvm::StringRef spec) override;
  void print(llvm::StringRef text) override { llvm::outs() << text; }

private:
  std::shared_ptr<SourceModule> parseModule(std::string name, std::string text, support::DiagnosticEngine &diagnostics);
  std::optional<HostResult> resolve(const std::shared_ptr<SourceModule> &in, llvm::StringRef name);
  std::optional<HostResult> find(const std::shared_ptr<SourceModule> &in, syntax::Block statements,
                                 llvm::StringRef name);
  std::shared_ptr<SourceModule> importedModule(const SourceModule &in, const syntax::ImportFrom *statement,
                                               std::string &path);
  HostResult import(const std::shared_ptr<SourceModule> &in, const syntax::ImportFrom *statement,
                    const syntax::Alias &alias);
  HostResult evaluate(const std::shared_ptr<SourceModule> &in, const syntax::Expr *expression);
  std::shared_ptr<JitFunction> jitFunction(const std::shared_ptr<SourceModule> &in,
                                           const syntax::FunctionDef *definition);

  static std::string nameOf(const HostRef &object) {
    auto *unknown = dynamic_cast<const UnknownObject *>(object.get());
    return unknown ? unknown->what : "object";
  }
  static HostResult refuse(const HostRef &object, const std::string &why) {
    return HostError{"NameError", "`" + nameOf(object) + "` " + why + " when compiling without Python", nullptr};
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  support::Options options;
  support::TargetSpec target;
  std::shared_ptr<SourceModule> main;
  llvm::StringMap<std::shared_ptr<SourceModule>> imported;
};
} // namespace

//--- Files -------------------------------------------------------------------------------------

std::shared_ptr<SourceModule> FileHostImpl::parseModule(std::string name, std::string text,
                                                        support::DiagnosticEngine &diagnostics) {
  auto created = std::make_shared<SourceModule>();
  created->file = std::make_shared<support::SourceFile>(std::move(name), std::move(text));
  diagnostics.keep(created->file); // diagnostics of a failed parse refer to it
  created->tree = syntax::parseModule(*created->file, *created->arena, diagnostics);
  if (!created->tree)
    return nullptr;
  created->topLevel = std::make_shared<JitFunction>();
  created->topLevel->name = "<module>";
  created->topLevel->file = created->file;
  created->topLevel->arena = created->arena;
  // A non-owning reference: the module owns this function.
  created->topLevel->scope = HostRef(std::shared_ptr<void>(), created.get());
  return created;
}

std::unique_ptr<FileHost> FileHost::fromText(std::string name, std::string text,
                                             support::DiagnosticEngine &diagnostics) {
  auto host = std::make_unique<FileHostImpl>();
  if (!host->load(std::move(name), std::move(text), diagnostics))
    return nullptr;
  return host;
}

std::unique_ptr<FileHost> FileHost::open(const std::string &path, support::DiagnosticEngine &diagnostics) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer) {
    diagnostics.report(diag::CannotReadFile, {}, path, buffer.getError().message());
    return nullptr;
  }
  return fromText(path, (*buffer)->getBuffer().str(), diagnostics);
}

/// The module that a relative import names, from the file `path`; null where that cannot be read.
std::shared_ptr<SourceModule> FileHostImpl::importedModule(const SourceModule &in, const syntax::ImportFrom *statement,
                                                           std::string &path) {
  llvm::SmallString<128> modulePath(llvm::sys::path::parent_path(in.file->name()));
  for (unsigned level = 1; level < statement->level; ++level)
    llvm::sys::path::append(modulePath, "..");
  llvm::SmallVector<llvm::StringRef> parts;
  statement->module.split(parts, '.', -1, false);
  for (llvm::StringRef part : parts)
    llvm::sys::path::append(modulePath, part);
  modulePath += ".py";
  path = modulePath.str().str();
  std::shared_ptr<SourceModule> &module = imported[path];
  if (module)
    return module;
  support::DiagnosticEngine diagnostics;
  if (auto buffer = llvm::MemoryBuffer::getFile(path))
    module = parseModule(path, (*buffer)->getBuffer().str(), diagnostics);
  return module;
}

/// The relative imports at module level, including those in `try` blocks.
static void collectImports(syntax::Block statements, llvm::SmallVectorImpl<const syntax::ImportFrom *> &imports) {
  for (const syntax::Stmt *statement : statements) {
    if (auto *from = dyn_cast<syntax::ImportFrom>(statement); from && from->level != 0)
      imports.push_back(from);
    else if (auto *attempt = dyn_cast<syntax::Try>(statement))
      collectImports(attempt->body, imports);
  }
}

std::vector<std::shared_ptr<const support::SourceFile>> FileHostImpl::files() {
  std::vector<std::shared_ptr<SourceModule>> modules{main};
  for (size_t index = 0; index < modules.size(); ++index) {
    const std::shared_ptr<SourceModule> in = modules[index];
    llvm::SmallVector<const syntax::ImportFrom *> imports;
    collectImports(in->tree->body, imports);
    std::string path;
    for (const syntax::ImportFrom *statement : imports)
      if (auto module = importedModule(*in, statement, path); module && !llvm::is_contained(modules, module))
        modules.push_back(module);
  }
  std::vector<std::shared_ptr<const support::SourceFile>> files;
  for (const std::shared_ptr<SourceModule> &module : modules)
    files.push_back(module->file);
  return files;
}

std::optional<Value> FileHost::constant(const std::string &text) {
  support::DiagnosticEngine diagnostics;
  FileHostImpl host;
  if (!host.load("<constant>", "import triton.language as tl\nvalue = " + text + "\n", diagnostics))
    return std::nullopt;
  return host.constantNamed("value");
}

//--- Names -------------------------------------------------------------------------------------

static bool isJitDecorator(const syntax::Expr *decorator) {
  if (auto *call = dyn_cast<syntax::Call>(decorator))
    return isJitDecorator(call->callee);
  if (auto *attribute = dyn_cast<syntax::Attribute>(decorator))
    return attribute->name == "jit";
  auto *name = dyn_cast<syntax::Name>(decorator);
  return name && name->id == "jit";
}

static bool isJit(const syntax::FunctionDef *function) { return llvm::any_of(function->decorators, isJitDecorator); }

/// Whether the value results from `tl.constexpr(...)`.
static bool isConstexprCall(const syntax::Expr *expression) {
  auto *call = dyn_cast<syntax::Call>(expression);
  return call && isConstexprAnnotation(call->callee);
}

std::vector<std::string> FileHostImpl::kernelNames() const {
  std::vector<std::string> names;
  for (const syntax::Stmt *statement : main->tree->body)
    if (auto *function = dyn_cast<syntax::FunctionDef>(statement); function && isJit(function))
      names.push_back(function->name.str());
  return names;
}

std::shared_ptr<JitFunction> FileHostImpl::jitFunction(const std::shared_ptr<SourceModule> &in,
                                                       const syntax::FunctionDef *definition) {
  auto function = std::make_shared<JitFunction>();
  function->name = definition->name.str();
  function->qualified = (llvm::sys::path::stem(in->file->name()) + "." + definition->name).str();
  function->file = in->file;
  function->arena = in->arena;
  function->definition = definition;
  function->scope = in;
  for (const syntax::Expr *decorator : definition->decorators)
    if (auto *call = dyn_cast<syntax::Call>(decorator))
      for (const syntax::Keyword &keyword : call->keywords)
        if (auto *constant = dyn_cast<syntax::Constant>(keyword.value))
          function->noinline |= keyword.name == "noinline" && constant->constantKind == syntax::ConstantKind::True;
  return function;
}

HostResult FileHostImpl::evaluate(const std::shared_ptr<SourceModule> &in, const syntax::Expr *expression) {
  support::DiagnosticEngine diagnostics;
  TtModuleEmitter emitter(*module, *this, diagnostics, options, target);
  Value value = TtFunctionEmitter(emitter, *in->topLevel).evaluate(expression);
  if (!diagnostics.hasErrors())
    return value;
  return HostError{"NameError", diagnostics.all().front().message, nullptr};
}

HostResult FileHostImpl::import(const std::shared_ptr<SourceModule> &in, const syntax::ImportFrom *statement,
                                const syntax::Alias &alias) {
  if (statement->level == 0) {
    if (!isBuiltinModule(statement->module))
      return Value(HostValue{std::make_shared<UnknownObject>(alias.name.str())});
    support::DiagnosticEngine diagnostics;
    TtModuleEmitter emitter(*module, *this, diagnostics, options, target);
    Value value = TtFunctionEmitter(emitter, *in->topLevel)
                      .attribute(ModuleValue{statement->module.str()}, alias.name, alias.range);
    if (diagnostics.hasErrors()) // `from triton import Config`: used by host code only
      return Value(HostValue{std::make_shared<UnknownObject>(alias.name.str())});
    return value;
  }
  std::string path;
  const std::shared_ptr<SourceModule> from = importedModule(*in, statement, path);
  if (!from)
    return HostError{"ImportError", "cannot import `" + alias.name.str() + "` from " + path, nullptr};
  if (auto found = resolve(from, alias.name))
    return *found;
  return HostError{"ImportError", "`" + path + "` has no `" + alias.name.str() + "`", nullptr};
}

/// The meaning of `name` by its last binding in `statements`.
std::optional<HostResult> FileHostImpl::find(const std::shared_ptr<SourceModule> &in, syntax::Block statements,
                                             llvm::StringRef name) {
  for (const syntax::Stmt *statement : llvm::reverse(statements)) {
    if (auto *function = dyn_cast<syntax::FunctionDef>(statement); function && function->name == name) {
      if (isJit(function))
        return Value(FunctionValue{jitFunction(in, function)});
      return Value(HostValue{std::make_shared<UnknownObject>(name.str())});
    }
    if (auto *type = dyn_cast<syntax::ClassDef>(statement); type && type->name == name)
      return Value(HostValue{std::make_shared<UnknownObject>(name.str())});
    if (auto *assign = dyn_cast<syntax::Assign>(statement))
      for (const syntax::Expr *assigned : assign->targets)
        if (auto *to = dyn_cast<syntax::Name>(assigned); to && to->id == name)
          return evaluate(in, assign->value);
    if (auto *assign = dyn_cast<syntax::AnnAssign>(statement))
      if (auto *to = dyn_cast<syntax::Name>(assign->target); to && to->id == name && assign->value)
        return evaluate(in, assign->value);
    if (auto *imports = dyn_cast<syntax::Import>(statement))
      for (const syntax::Alias &alias : imports->names) {
        llvm::StringRef top = alias.name.split('.').first;
        if ((alias.asName.empty() ? top : alias.asName) != name)
          continue;
        llvm::StringRef meant = alias.asName.empty() ? top : alias.name;
        if (isBuiltinModule(meant))
          return Value(ModuleValue{meant.str()});
        return Value(HostValue{std::make_shared<UnknownObject>(meant.str())});
      }
    if (auto *imports = dyn_cast<syntax::ImportFrom>(statement))
      for (const syntax::Alias &alias : imports->names)
        if ((alias.asName.empty() ? alias.name : alias.asName) == name)
          return import(in, imports, alias);
    if (auto *attempt = dyn_cast<syntax::Try>(statement))
      if (auto found = find(in, attempt->body, name))
        return found;
  }
  return std::nullopt;
}

std::optional<HostResult> FileHostImpl::resolve(const std::shared_ptr<SourceModule> &in, llvm::StringRef name) {
  if (auto known = in->known.find(name); known != in->known.end())
    return known->second;
  if (in->underway.contains(name))
    return HostError{"NameError", "`" + name.str() + "` is defined by itself", nullptr};
  in->underway[name] = true;
  std::optional<HostResult> found = find(in, in->tree->body, name);
  in->underway.erase(name);
  if (found)
    in->known.try_emplace(name, *found);
  return found;
}

/// The expression of the last assignment to a module-level name, or null.
static const syntax::Expr *assignedExpression(syntax::Block statements, llvm::StringRef name) {
  for (const syntax::Stmt *statement : llvm::reverse(statements)) {
    if (auto *assign = dyn_cast<syntax::Assign>(statement))
      for (const syntax::Expr *assigned : assign->targets)
        if (auto *to = dyn_cast<syntax::Name>(assigned); to && to->id == name)
          return assign->value;
    if (auto *assign = dyn_cast<syntax::AnnAssign>(statement))
      if (auto *to = dyn_cast<syntax::Name>(assign->target); to && to->id == name)
        return assign->value;
  }
  return nullptr;
}

std::optional<HostResult> FileHostImpl::lookup(const JitFunction &function, llvm::StringRef name) {
  auto *owner = dynamic_cast<SourceModule *>(function.scope.get());
  std::shared_ptr<SourceModule> in(function.scope, owner);
  std::optional<HostResult> found = resolve(in, name);
  auto *value = found ? std::get_if<Value>(&*found) : nullptr;
  const bool isModuleLevel = &function == in->topLevel.get();
  if (!value || isModuleLevel || value->isNone() || value->is<TypeValue>() || value->is<FunctionValue>() ||
      value->is<ModuleValue>() || value->is<BuiltinValue>() || value->is<HostValue>())
    return found;
  const syntax::Expr *expression = assignedExpression(in->tree->body, name);
  if (!expression || isConstexprCall(expression))
    return found;
  return HostError{"NameError",
                   llvm::formatv("Cannot access global variable {0} from within @jit'ed function; write `{0} = "
                                 "tl.constexpr({1})`, or pass it as an argument",
                                 name, value->repr())
                       .str(),
                   nullptr};
}

HostResult FileHostImpl::format(const Value &object, char conversion, llvm::StringRef spec) {
  if (!spec.empty())
    return HostError{"NotImplementedError", "a format specification needs Python", nullptr};
  if (auto *text = object.get<std::string>(); text && conversion != 'r' && conversion != 'a')
    return Value(*text);
  return Value(object.repr());
}
