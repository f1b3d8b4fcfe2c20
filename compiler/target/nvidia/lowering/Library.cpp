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

static bool isUndefinedOwn(const llvm::Function &function) {
  return function.isDeclaration() && function.getName().starts_with(kOwnPrefix);
}

/// Records the undefined functions of our library that no caller is known of.
static void recordCaller(const llvm::Module &module, llvm::StringRef caller, llvm::StringMap<std::string> &callers) {
  for (const llvm::Function &function : module)
    if (isUndefinedOwn(function))
      callers.try_emplace(function.getName(), caller.str());
}

llvm::Error Libraries::linkFiles(llvm::Module &module, Callers &callers) {
  recordCaller(module, "", callers);
  for (const auto &file : files) {
    if (!file->bytes)
      continue;
    if (llvm::Error error = lowering::linkFrom(file->bytes->getBuffer(), module))
      return llvm::createFileError(file->path, std::move(error));
    recordCaller(module, file->path, callers);
  }
  return llvm::Error::success();
}

llvm::Error Libraries::link(llvm::Module &module) {
  Callers callers;
  if (llvm::Error error = linkFiles(module, callers))
    return error;
  if (!lowering::hasDeclarations(module, kOwnPrefix))
    return llvm::Error::success();
  if (llvm::Error error = lowering::linkFrom(libraryBitcode(), module))
    return error;
  for (llvm::Function &function : module) {
    if (!isUndefinedOwn(function))
      continue;
    defineInline(function, features);
    if (!function.isDeclaration())
      continue;
    llvm::Error error = llvm::createStringError("libdevice has no function `" + function.getName().str() + "`");
    const std::string caller = callers.lookup(function.getName());
    return caller.empty() ? std::move(error) : llvm::createFileError(caller, std::move(error));
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
