// Imports of a kernel's file without Python: modules beside the file are parsed as it was.
// SPDX-License-Identifier: MIT
#include "compiler/sema/FileHost.h"

#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/support/InputFile.h"
#include "compiler/syntax/Parser.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

// --- Modules -------------------------------------------------------------------------------

static std::string positionOf(const support::Diagnostic &diagnostic) {
  const support::FileRange &where = diagnostic.where;
  return llvm::formatv("{0}:{1}", where.file->name(), where.file->position(where.range.begin).line).str();
}

SourceModuleRef FileHost::parse(std::string name, std::string path, std::string text,
                                support::DiagnosticEngine &diagnostics) {
  auto created = std::make_shared<SourceModule>();
  created->name = std::move(name);
  created->file = std::make_shared<support::SourceFile>(std::move(path), std::move(text));
  diagnostics.keep(created->file); // diagnostics of a failed parse refer to it
  created->tree = syntax::parseModule(*created->file, *created->arena, diagnostics);
  if (!created->tree && diagnostics.hasErrors()) {
    const support::Diagnostic &first = diagnostics.all().front();
    created->syntaxError = positionOf(first) + ": " + first.message;
  }
  created->topLevel = std::make_shared<JitFunction>();
  created->topLevel->name = "<module>";
  created->topLevel->file = created->file;
  created->topLevel->arena = created->arena;
  // A non-owning reference: the module owns this function.
  created->topLevel->scope = HostRef(std::shared_ptr<void>(), created.get());
  return created;
}

SourceModuleRef FileHost::moduleAt(const ModuleFile &file, llvm::StringRef name) {
  SourceModuleRef &module = modules[file.path.empty() ? file.directory : file.path];
  if (module)
    return module;
  std::string text;
  if (!file.path.empty()) {
    auto buffer = support::readInput(file.path);
    if (!buffer) {
      modules.erase(file.path);
      return nullptr;
    }
    text = (*buffer)->getBuffer().str();
  }
  support::DiagnosticEngine diagnostics;
  SourceModuleRef created = parse(name.str(), file.path.empty() ? file.directory : file.path, text, diagnostics);
  created->directory = file.directory;
  return modules[file.path.empty() ? file.directory : file.path] = created;
}

SourceModuleRef FileHost::absoluteModule(llvm::StringRef name) {
  for (const std::string &folder : importFolders(main->file->name(), name))
    if (auto found = findModule(folder, name))
      return moduleAt(*found, name);
  return nullptr;
}

SourceModuleRef FileHost::submodule(const SourceModule &package, llvm::StringRef name) {
  if (package.directory.empty())
    return nullptr;
  auto found = findModule(package.directory, name);
  return found ? moduleAt(*found, package.name + "." + name.str()) : nullptr;
}

/// The module after `from`; null where there is no such file.
SourceModuleRef FileHost::moduleOf(const SourceModule &in, const syntax::ImportFrom *statement) {
  if (statement->level == 0)
    return absoluteModule(statement->module);
  const std::string folder = relativeFolder(in.file->name(), statement->level);
  if (!statement->module.empty()) {
    auto found = findModule(folder, statement->module);
    return found ? moduleAt(*found, statement->module) : nullptr;
  }
  llvm::SmallString<128> init(folder);
  llvm::sys::path::append(init, "__init__.py");
  const bool hasInit = llvm::sys::fs::is_regular_file(init);
  return moduleAt({hasInit ? init.str().str() : "", folder.empty() ? "." : folder}, folder);
}

/// Why an import fails: what it names, and where that was looked for.
std::string FileHost::reasonNotFound(const SourceModule &in, const syntax::Stmt *statement, llvm::StringRef name,
                                     unsigned level) const {
  std::vector<std::string> folders;
  if (level == 0)
    folders = importFolders(main->file->name(), name);
  else
    folders.push_back(relativeFolder(in.file->name(), level));
  for (std::string &folder : folders)
    folder = "`" + (folder.empty() ? std::string(".") : folder) + "`";
  const std::string file = llvm::join(llvm::split(name, '.'), "/");
  return llvm::formatv("module `{0}{1}`, imported at {2}:{3}, is not found; compiling without Python looks for "
                       "`{4}.py` or `{4}/__init__.py` in {5}",
                       std::string(level, '.'), name, in.file->name(), in.file->position(statement->range.begin).line,
                       file, llvm::join(folders, ", "))
      .str();
}

//--- Files that a kernel can depend on -----------------------------------------------------

static void addModule(const SourceModuleRef &module, std::vector<SourceModuleRef> &modules) {
  if (module && !llvm::is_contained(modules, module))
    modules.push_back(module);
}

/// The modules that `statements` of the module level import.
void FileHost::addImports(const SourceModule &in, syntax::Block statements, std::vector<SourceModuleRef> &modules) {
  auto addPath = [&](llvm::StringRef name) { // importing a.b also reads a/__init__.py
    for (size_t dot = name.find('.'); dot != llvm::StringRef::npos; dot = name.find('.', dot + 1))
      addModule(absoluteModule(name.take_front(dot)), modules);
    addModule(absoluteModule(name), modules);
  };
  for (const syntax::Stmt *statement : statements) {
    if (auto *import = dyn_cast<syntax::Import>(statement)) {
      for (const syntax::Alias &alias : import->names)
        if (!isBuiltinModule(alias.name))
          addPath(alias.name);
    } else if (auto *from = dyn_cast<syntax::ImportFrom>(statement)) {
      if (from->level == 0 && isBuiltinModule(from->module))
        continue;
      if (from->level == 0)
        addPath(from->module);
      SourceModuleRef module = moduleOf(in, from);
      addModule(module, modules);
      for (const syntax::Alias &alias : from->names)
        if (module && alias.name != "*")
          addModule(submodule(*module, alias.name), modules);
    } else if (auto *attempt = dyn_cast<syntax::Try>(statement)) {
      addImports(in, attempt->body, modules);
      addImports(in, attempt->orelse, modules);
      addImports(in, attempt->finalbody, modules);
      for (const syntax::ExceptHandler &handler : attempt->handlers)
        addImports(in, handler.body, modules);
    } else if (auto *choice = dyn_cast<syntax::If>(statement)) {
      addImports(in, choice->body, modules);
      addImports(in, choice->orelse, modules);
    }
  }
}

std::vector<std::shared_ptr<const support::SourceFile>> FileHost::files() {
  std::vector<SourceModuleRef> modulesInUse{main};
  for (size_t index = 0; index < modulesInUse.size(); ++index) {
    const SourceModuleRef in = modulesInUse[index];
    addImports(*in, in->body(), modulesInUse);
  }
  std::vector<std::shared_ptr<const support::SourceFile>> files;
  for (const SourceModuleRef &each : modulesInUse)
    files.push_back(each->file);
  return files;
}

//--- Names of import statements ------------------------------------------------------------

/// `module.name`: a name of its file, or a file of its folder.
HostResult FileHost::member(const SourceModuleRef &module, llvm::StringRef name) {
  if (!module->syntaxError.empty())
    return HostError{"ImportError", "cannot import `" + module->name + "`: " + module->syntaxError, nullptr};
  // A name that is being looked for here already can only be a submodule.
  if (!isUnderway(*module, name))
    if (auto found = resolve(module, name))
      return *found;
  if (SourceModuleRef inner = submodule(*module, name))
    return Value(HostValue{inner});
  return HostError{"ImportError",
                   llvm::formatv("`{0}` has no `{1}`; its file is {2}", module->name, name, module->file->name()).str(),
                   nullptr};
}

HostResult FileHost::builtinMember(const SourceModuleRef &in, llvm::StringRef from, const syntax::Alias &alias) {
  support::DiagnosticEngine diagnostics;
  TtModuleEmitter emitter(*module, *this, diagnostics, options, target);
  Value value = TtFunctionEmitter(emitter, *in->topLevel).attribute(ModuleValue{from.str()}, alias.name, alias.range);
  if (diagnostics.hasErrors()) // `from triton import Config`: used by host code only
    return Value(HostValue{std::make_shared<UnknownObject>(alias.name.str())});
  return value;
}

/// `import a.b` binds `a`; `import a.b as c` binds `c` to `a.b`.
std::optional<HostResult> FileHost::findImport(const SourceModuleRef &in, const syntax::Import *statement,
                                               llvm::StringRef name) {
  for (const syntax::Alias &alias : llvm::reverse(statement->names)) {
    const llvm::StringRef top = alias.name.split('.').first;
    if ((alias.asName.empty() ? top : alias.asName) != name)
      continue;
    const llvm::StringRef meant = alias.asName.empty() ? top : alias.name;
    if (isBuiltinModule(meant))
      return Value(ModuleValue{meant.str()});
    if (SourceModuleRef found = absoluteModule(meant))
      return Value(HostValue{found});
    return Value(HostValue{std::make_shared<UnknownObject>(meant.str(), reasonNotFound(*in, statement, meant))});
  }
  return std::nullopt;
}

/// The name that `from module import *` brings, if any.
std::optional<HostResult> FileHost::findStar(const SourceModuleRef &in, const syntax::ImportFrom *statement,
                                             llvm::StringRef name) {
  if (name.starts_with("_"))
    return std::nullopt;
  if (statement->level == 0 && isBuiltinModule(statement->module)) {
    HostResult found = builtinMember(in, statement->module, {statement->range, name, {}});
    auto *value = std::get_if<Value>(&found);
    return value && !value->is<HostValue>() ? std::optional(found) : std::nullopt;
  }
  SourceModuleRef from = moduleOf(*in, statement);
  if (!from || isUnderway(*from, name)) // modules may import each other's names
    return std::nullopt;
  std::optional<HostResult> all = name == "__all__" ? std::nullopt : resolve(from, "__all__");
  auto *listed = all ? std::get_if<Value>(&*all) : nullptr;
  if (listed && listed->elements() &&
      llvm::none_of(*listed->elements(), [&](const Value &each) { return sameConstant(each, Value(name.str())); }))
    return std::nullopt;
  std::optional<HostResult> found = resolve(from, name);
  if (found && from->variables.contains(name))
    in->variables.insert(name);
  return found;
}

HostResult FileHost::importName(const SourceModuleRef &in, const syntax::ImportFrom *statement,
                                const syntax::Alias &alias, llvm::StringRef name) {
  if (statement->level == 0 && isBuiltinModule(statement->module))
    return builtinMember(in, statement->module, alias);
  SourceModuleRef from = moduleOf(*in, statement);
  if (!from)
    return Value(HostValue{std::make_shared<UnknownObject>(
        alias.name.str(), reasonNotFound(*in, statement, statement->module, statement->level))});
  HostResult found = member(from, alias.name);
  if (from->variables.contains(alias.name))
    in->variables.insert(name);
  return found;
}

std::optional<HostResult> FileHost::findImportFrom(const SourceModuleRef &in, const syntax::ImportFrom *statement,
                                                   llvm::StringRef name) {
  for (const syntax::Alias &alias : llvm::reverse(statement->names)) {
    if (alias.name == "*")
      return findStar(in, statement, name);
    if ((alias.asName.empty() ? alias.name : alias.asName) == name)
      return importName(in, statement, alias, name);
  }
  return std::nullopt;
}
