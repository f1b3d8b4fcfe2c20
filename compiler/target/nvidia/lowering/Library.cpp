// Finds functions of libraries and links them into a kernel's module.
// SPDX-License-Identifier: MIT
//
// Our own library is C; its calls of exp, log, sine and similar get the code that kernels inline.
#include "compiler/target/nvidia/lowering/Library.h"

#include "compiler/lowering/BitcodeLibrary.h"
#include "compiler/lowering/ExternForms.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace nereid;
using namespace nereid::nvidia;

static constexpr llvm::StringLiteral kOwnPrefix = "__nv_";

struct Libraries::File {
  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> bytes; ///< null: it cannot be read
};

Libraries::Libraries(const math::HostMath &features) : features(features) {}
Libraries::~Libraries() = default;

llvm::StringRef Libraries::contents(llvm::StringRef path) {
  auto known = llvm::find_if(files, [&](const auto &file) { return file->path == path; });
  if (known == files.end()) {
    auto read = llvm::MemoryBuffer::getFile(path, /*IsText=*/false, /*RequiresNullTerminator=*/false);
    files.push_back(std::make_unique<File>(File{path.str(), read ? std::move(*read) : nullptr}));
    known = std::prev(files.end());
  }
  const llvm::MemoryBuffer *bytes = (*known)->bytes.get();
  return bytes ? bytes->getBuffer() : llvm::StringRef();
}

llvm::Function *Libraries::declare(llvm::Module &module, llvm::StringRef path, llvm::StringRef symbol) {
  return lowering::declareFrom(path.empty() ? libraryBitcode() : contents(path), module, symbol);
}

/// Defines a declared function of our library by the inline code that kernels use.
static void defineInline(llvm::Function &function, const math::HostMath &features) {
  llvm::SmallVector<llvm::Value *, 3> arguments;
  for (llvm::Argument &argument : function.args())
    arguments.push_back(&argument);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  if (llvm::Value *result = lowering::emitExtern(ir, function.getName(), arguments, features)) {
    ir.CreateRet(result);
    function.setLinkage(llvm::Function::InternalLinkage);
  } else {
    function.deleteBody();
  }
}

llvm::Error Libraries::link(llvm::Module &module) {
  for (const auto &file : files)
    if (file->bytes)
      if (llvm::Error error = lowering::linkFrom(file->bytes->getBuffer(), module))
        return error;
  if (!lowering::hasDeclarations(module, kOwnPrefix))
    return llvm::Error::success();
  if (llvm::Error error = lowering::linkFrom(libraryBitcode(), module))
    return error;
  for (llvm::Function &function : module) {
    if (!function.isDeclaration() || !function.getName().starts_with(kOwnPrefix))
      continue;
    defineInline(function, features);
    if (function.isDeclaration())
      return llvm::createStringError("no library has the function `" + function.getName().str() + "`");
  }
  return llvm::Error::success();
}

llvm::StringRef NvidiaEmitter::externLibrary(llvm::StringRef name) const {
  const auto named = llvm::find_if(externLibraries, [&](const auto &library) { return library.name == name; });
  return named == externLibraries.end() ? llvm::StringRef() : llvm::StringRef(named->path);
}

llvm::Value *NvidiaEmitter::callExtern(IrBuilder &ir, const lowering::ExternCall &call) {
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  llvm::Function *function = libraries.declare(module, call.libraryPath, call.symbol);
  if (!function || !lowering::accepts(*function, call.arguments, call.result))
    return nullptr;
  return ir.CreateCall(function, call.arguments);
}
