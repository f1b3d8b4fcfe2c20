// Evaluates the module level of a kernel's .py file without Python.
// SPDX-License-Identifier: MIT
//
// The module level is parsed, not run: the last statement that binds a name gives its meaning, which is evaluated at
// first use. Names other than imports, constants and jit functions are unknown, and using them is an error.
#include "compiler/sema/FileHost.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/TtFunctionEmitter.h"
#include "compiler/support/InputFile.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::sema;
using llvm::dyn_cast;

/// Lets go of the functions: a module owns its functions, and these own the module, so that neither would be freed.
FileHost::~FileHost() {
  auto clear = [](SourceModule &module) {
    module.known.clear();
    module.functions.clear();
  };
  if (main)
    clear(*main);
  for (auto &entry : modules)
    clear(*entry.second);
}

bool FileHost::load(std::string name, std::string text, support::DiagnosticEngine &diagnostics) {
  main = parse(llvm::sys::path::stem(name).str(), name, std::move(text), diagnostics);
  modules[name] = main; // other modules may import it
  return main->tree != nullptr;
}

std::unique_ptr<FileHost> FileHost::fromText(std::string name, std::string text,
                                             support::DiagnosticEngine &diagnostics) {
  std::unique_ptr<FileHost> host(new FileHost);
  if (!host->load(std::move(name), std::move(text), diagnostics))
    return nullptr;
  return host;
}

std::unique_ptr<FileHost> FileHost::open(const std::string &path, support::DiagnosticEngine &diagnostics) {
  auto buffer = support::readInput(path);
  if (!buffer) {
    diagnostics.report(diag::CannotReadFile, {}, path, buffer.getError().message());
    return nullptr;
  }
  return fromText(path, (*buffer)->getBuffer().str(), diagnostics);
}

std::optional<Value> FileHost::constant(const std::string &text) {
  support::DiagnosticEngine diagnostics;
  FileHost host;
  static constexpr llvm::StringLiteral prelude =
      "import triton.language as tl\ninf = float('inf')\nnan = float('nan')\nvalue = ";
  if (!host.load("<constant>", prelude.str() + text + "\n", diagnostics))
    return std::nullopt;
  return host.constantNamed("value");
}

std::shared_ptr<JitFunction> FileHost::function(llvm::StringRef name) {
  std::optional<HostResult> found = resolve(main, name);
  auto *value = found ? std::get_if<Value>(&*found) : nullptr;
  auto *function = value ? value->get<FunctionValue>() : nullptr;
  return function ? function->function : nullptr;
}

std::optional<Value> FileHost::constantNamed(llvm::StringRef name) {
  std::optional<HostResult> found = resolve(main, name);
  auto *value = found ? std::get_if<Value>(&*found) : nullptr;
  return value && value->isConstant() && !value->is<HostValue>() ? std::optional(*value) : std::nullopt;
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

/// Whether a decorator is `jit` of the module that is imported for Gluon.
bool FileHost::isGluonJit(const SourceModuleRef &in, const syntax::Expr *decorator) {
  if (auto *call = dyn_cast<syntax::Call>(decorator))
    return isGluonJit(in, call->callee);
  auto *attribute = dyn_cast<syntax::Attribute>(decorator);
  auto *name = attribute && attribute->name == "jit" ? dyn_cast<syntax::Name>(attribute->value) : nullptr;
  std::optional<HostResult> found = name ? resolve(in, name->id) : std::nullopt;
  auto *value = found ? std::get_if<Value>(&*found) : nullptr;
  auto *imported = value ? value->get<ModuleValue>() : nullptr;
  return imported && imported->name == "triton.experimental.gluon";
}

bool FileHost::isJit(const syntax::FunctionDef *function) { return llvm::any_of(function->decorators, isJitDecorator); }

std::vector<std::string> FileHost::kernelNames() const {
  std::vector<std::string> names;
  for (const syntax::Stmt *statement : main->tree->body)
    if (auto *function = dyn_cast<syntax::FunctionDef>(statement); function && isJit(function))
      names.push_back(function->name.str());
  return names;
}

std::shared_ptr<JitFunction> FileHost::jitFunction(const SourceModuleRef &in, const syntax::FunctionDef *definition) {
  std::shared_ptr<JitFunction> &function = in->functions[definition];
  if (function)
    return function;
  function = std::make_shared<JitFunction>();
  function->name = definition->name.str();
  function->qualified = (llvm::sys::path::stem(in->file->name()) + "." + definition->name).str();
  function->file = in->file;
  function->arena = in->arena;
  function->definition = definition;
  function->scope = in;
  function->isGluon =
      llvm::any_of(definition->decorators, [&](const syntax::Expr *each) { return isGluonJit(in, each); });
  for (const syntax::Expr *decorator : definition->decorators)
    if (auto *call = dyn_cast<syntax::Call>(decorator))
      for (const syntax::Keyword &keyword : call->keywords)
        if (auto *constant = dyn_cast<syntax::Constant>(keyword.value))
          function->noinline |= keyword.name == "noinline" && constant->constantKind == syntax::ConstantKind::True;
  return function;
}

HostResult FileHost::compute(const SourceModuleRef &in, llvm::function_ref<Value(TtFunctionEmitter &)> expression) {
  support::DiagnosticEngine diagnostics;
  TtModuleEmitter emitter(*module, *this, diagnostics, options, target);
  TtFunctionEmitter evaluator(emitter, *in->topLevel);
  Value value = expression(evaluator);
  if (!diagnostics.hasErrors())
    return value;
  return HostError{"NameError", diagnostics.all().front().message, nullptr};
}

HostResult FileHost::evaluate(const SourceModuleRef &in, const syntax::Expr *expression) {
  return compute(in, [&](TtFunctionEmitter &emitter) { return emitter.evaluate(expression); });
}

bool FileHost::isUnderway(const SourceModule &in, llvm::StringRef name) {
  const bool result = in.underway.contains(name);
  namesMetUnderway += result;
  return result;
}

std::optional<HostResult> FileHost::resolve(const SourceModuleRef &in, llvm::StringRef name) {
  if (auto known = in->known.find(name); known != in->known.end())
    return known->second;
  if (name == "__name__") // never "__main__": the file is not run
    return Value(in->name);
  if (auto at = in->underway.find(name); at != in->underway.end())
    return resolveBefore(in, name, at->second);
  const size_t metBefore = namesMetUnderway;
  in->underway[name] = SourceModule::wholeModule;
  ++namesUnderway;
  std::optional<HostResult> found = find(in, in->body(), name);
  in->underway.erase(name);
  --namesUnderway;
  // A result that lacks the meaning of a name still underway is not the final one.
  if (found && (namesUnderway == 0 || namesMetUnderway == metBefore))
    in->known.try_emplace(name, *found);
  return found;
}

HostResult FileHost::resolveBefore(const SourceModuleRef &in, llvm::StringRef name, uint32_t offset) {
  std::pair<std::string, uint32_t> key(name.str(), offset);
  if (auto known = in->knownBefore.find(key); known != in->knownBefore.end())
    return known->second;
  const size_t metBefore = namesMetUnderway;
  std::optional<HostResult> found;
  if (offset != SourceModule::wholeModule)
    found = find(in, in->body(), name, offset);
  if (!found) {
    ++namesMetUnderway;
    return HostError{"NameError", "`" + name.str() + "` is defined by itself", nullptr};
  }
  if (namesMetUnderway == metBefore)
    in->knownBefore.try_emplace(std::move(key), *found);
  return *found;
}

std::optional<HostResult> FileHost::lookup(const JitFunction &function, llvm::StringRef name) {
  auto *owner = dynamic_cast<SourceModule *>(function.scope.get());
  SourceModuleRef in(function.scope, owner);
  std::optional<HostResult> found = resolve(in, name);
  auto *value = found ? std::get_if<Value>(&*found) : nullptr;
  const bool isModuleLevel = &function == in->topLevel.get();
  if (!value || isModuleLevel || !in->variables.contains(name) || value->isNone() || value->is<TypeValue>() ||
      value->is<FunctionValue>() || value->is<ModuleValue>() || value->is<BuiltinValue>() || value->is<HostValue>())
    return found;
  return HostError{"NameError",
                   llvm::formatv("Cannot access global variable {0} from within @jit'ed function; write `{0} = "
                                 "tl.constexpr({1})`, or pass it as an argument",
                                 name, value->repr())
                       .str(),
                   nullptr};
}

//--- Values ------------------------------------------------------------------------------------

std::string FileHost::nameOf(const HostRef &object) {
  if (auto *module = dynamic_cast<const SourceModule *>(object.get()))
    return "module " + module->name;
  auto *unknown = dynamic_cast<const UnknownObject *>(object.get());
  return unknown ? unknown->what : "object";
}

HostResult FileHost::refuse(const HostRef &object, const std::string &why) {
  auto *unknown = dynamic_cast<const UnknownObject *>(object.get());
  if (unknown && !unknown->reason.empty())
    return HostError{"NameError", unknown->reason, nullptr};
  return HostError{"NameError", "`" + nameOf(object) + "` " + why + " when compiling without Python", nullptr};
}

HostResult FileHost::attribute(const HostRef &object, llvm::StringRef name) {
  if (auto module = std::dynamic_pointer_cast<SourceModule>(object))
    return member(module, name);
  return refuse(object, "has no attribute `" + name.str() + "`");
}

HostResult FileHost::memberOf(const Value &object, llvm::StringRef name) {
  return HostError{"AttributeError",
                   llvm::formatv("`{0}` has no attribute `{1}` without Python", object.kindName(), name).str(),
                   nullptr};
}

HostResult FileHost::binary(llvm::StringRef op, const Value &left, const Value &right) {
  for (const Value *side : {&left, &right})
    if (auto *host = side->get<HostValue>())
      return refuse(host->object, "is no operand of `" + op.str() + "`");
  return HostError{"TypeError", "`" + op.str() + "` needs Python for these operands", nullptr};
}

void FileHost::print(llvm::StringRef text) { llvm::outs() << text; }

HostResult FileHost::format(const Value &object, char conversion, llvm::StringRef spec) {
  if (!spec.empty())
    return HostError{"NotImplementedError", "a format specification needs Python", nullptr};
  if (auto *text = object.get<std::string>(); text && conversion != 'r' && conversion != 'a')
    return Value(*text);
  return Value(object.repr());
}
