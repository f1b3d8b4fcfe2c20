// Links functions held as bitcode into the modules of kernels that call them.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/BitcodeLibrary.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/Linker/Linker.h"

using namespace nereid;

namespace {
/// Keeps the first error that LLVM reports to a context, in place of the context's own handler.
class LinkErrors {
public:
  explicit LinkErrors(llvm::LLVMContext &context) : context(context), previous(context.getDiagnosticHandler()) {
    context.setDiagnosticHandler(std::make_unique<Handler>(text));
  }
  ~LinkErrors() { context.setDiagnosticHandler(std::move(previous)); }

  std::string text;

private:
  struct Handler : llvm::DiagnosticHandler {
    explicit Handler(std::string &text) : text(text) {}
    bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
      if (info.getSeverity() != llvm::DS_Error || !text.empty())
        return true;
      llvm::raw_string_ostream stream(text);
      llvm::DiagnosticPrinterRawOStream printer(stream);
      info.print(printer);
      return true;
    }
    std::string &text;
  };

  llvm::LLVMContext &context;
  std::unique_ptr<llvm::DiagnosticHandler> previous;
};
} // namespace

static llvm::Expected<std::unique_ptr<llvm::Module>> parse(llvm::StringRef bitcode, llvm::LLVMContext &context) {
  return llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "library"), context);
}

llvm::Function *lowering::declareFrom(llvm::StringRef bitcode, llvm::Module &module, llvm::StringRef name) {
  if (llvm::Function *known = module.getFunction(name))
    return known;
  auto library = parse(bitcode, module.getContext());
  if (!library) {
    llvm::consumeError(library.takeError());
    return nullptr;
  }
  const llvm::Function *function = (*library)->getFunction(name);
  if (!function || function->isDeclaration())
    return nullptr;
  return llvm::Function::Create(function->getFunctionType(), llvm::Function::ExternalLinkage, name, module);
}

llvm::Expected<const llvm::FunctionType *> lowering::typeIn(llvm::StringRef bitcode, llvm::LLVMContext &context,
                                                            llvm::StringRef name) {
  auto library = parse(bitcode, context);
  if (!library)
    return library.takeError();
  const llvm::Function *function = (*library)->getFunction(name);
  return function && !function->isDeclaration() ? function->getFunctionType() : nullptr;
}

bool lowering::definesFunction(llvm::StringRef bitcode, llvm::StringRef name) {
  llvm::LLVMContext context;
  llvm::Expected<const llvm::FunctionType *> type = typeIn(bitcode, context, name);
  if (type)
    return *type != nullptr;
  llvm::consumeError(type.takeError());
  return false;
}

bool lowering::accepts(const llvm::Function &function, llvm::ArrayRef<llvm::Value *> arguments, llvm::Type *result) {
  const llvm::FunctionType *type = function.getFunctionType();
  return type->getNumParams() == arguments.size() && type->getReturnType() == result &&
         llvm::all_of(llvm::zip_equal(type->params(), arguments),
                      [](auto each) { return std::get<0>(each) == std::get<1>(each)->getType()->getScalarType(); });
}

/// Makes a library function internal and removes its target attributes, so that it is compiled as the kernel is.
static void adopt(llvm::Function &function) {
  for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "frame-pointer"})
    function.removeFnAttr(attribute);
  if (!function.isDeclaration())
    function.setLinkage(llvm::Function::InternalLinkage);
}

static bool hasNeededFunction(const llvm::Module &library, const llvm::Module &module) {
  return llvm::any_of(library, [&](const llvm::Function &function) {
    const llvm::Function *wanted = function.isDeclaration() ? nullptr : module.getFunction(function.getName());
    return wanted && wanted->isDeclaration();
  });
}

/// Declares the variables that the host initialises after loading the code (`__constant__` and `__device__` of CUDA),
/// as NVSHMEM's state: the host looks for them, even for those that no code refers to.
static void declareHostVariables(const llvm::Module &library, llvm::Module &module) {
  for (const llvm::GlobalVariable &variable : library.globals())
    if (variable.isExternallyInitialized() && variable.hasExternalLinkage() && !variable.isDeclaration() &&
        !module.getNamedValue(variable.getName()))
      new llvm::GlobalVariable(module, variable.getValueType(), variable.isConstant(),
                               llvm::GlobalValue::ExternalLinkage, nullptr, variable.getName(), nullptr,
                               variable.getThreadLocalMode(), variable.getAddressSpace(),
                               /*isExternallyInitialized=*/true);
}

llvm::Error lowering::linkFrom(llvm::StringRef bitcode, llvm::Module &module) {
  llvm::SmallPtrSet<llvm::Function *, 8> own;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      own.insert(&function);
  auto library = parse(bitcode, module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (hasNeededFunction(**library, module))
    declareHostVariables(**library, module);
  LinkErrors errors(module.getContext());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError(errors.text);
  for (llvm::Function &function : module)
    if (!function.isIntrinsic() && !own.contains(&function))
      adopt(function);
  return llvm::Error::success();
}

bool lowering::hasDeclarations(const llvm::Module &module, llvm::StringRef prefix) {
  return llvm::any_of(module, [&](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with(prefix);
  });
}
