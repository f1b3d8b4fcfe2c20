// Links the functions written in C into the modules of kernels that call them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/CLibrary.h"

#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Linker/Linker.h"

using namespace nereid;

static llvm::Expected<std::unique_ptr<llvm::Module>> parseLibrary(llvm::LLVMContext &context) {
  const llvm::MemoryBufferRef buffer(cpu::libraryBitcode(), "library");
  return llvm::getLazyBitcodeModule(buffer, context);
}

llvm::Function *cpu::declareLibraryFunction(llvm::Module &module, llvm::StringRef name) {
  if (llvm::Function *known = module.getFunction(name))
    return known;
  auto library = parseLibrary(module.getContext());
  if (!library) {
    llvm::consumeError(library.takeError());
    return nullptr;
  }
  const llvm::Function *found = (*library)->getFunction(name);
  if (!found || found->isDeclaration())
    return nullptr;
  return llvm::Function::Create(found->getFunctionType(), llvm::Function::ExternalLinkage, name, module);
}

/// Code of the library is generated as the kernel's is, and nobody outside sees it.
static void adopt(llvm::Function &function) {
  for (const char *attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width", "frame-pointer"})
    function.removeFnAttr(attribute);
  function.setLinkage(llvm::Function::InternalLinkage);
}

llvm::Error cpu::linkLibrary(llvm::Module &module) {
  const bool mayNeed = llvm::any_of(module, [](const llvm::Function &function) {
    return function.isDeclaration() && function.getName().starts_with("__nv_");
  });
  if (!mayNeed) // most kernels: they do without a look at the library
    return llvm::Error::success();
  llvm::SmallPtrSet<llvm::Function *, 8> own;
  for (llvm::Function &function : module)
    if (!function.isDeclaration())
      own.insert(&function);
  auto library = parseLibrary(module.getContext());
  if (!library)
    return library.takeError();
  (*library)->setDataLayout(module.getDataLayout());
  (*library)->setTargetTriple(module.getTargetTriple());
  if (llvm::Linker::linkModules(module, std::move(*library), llvm::Linker::LinkOnlyNeeded))
    return llvm::createStringError("the function library cannot be linked");
  for (llvm::Function &function : module)
    if (!function.isDeclaration() && !own.contains(&function))
      adopt(function);
  return llvm::Error::success();
}
