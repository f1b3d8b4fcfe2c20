// Finds functions of libraries and links them into a kernel's module.
// SPDX-License-Identifier: MIT
//
// Our own library is C; its calls of exp, log, sine and similar get the code that kernels inline.
#include "compiler/lowering/gpu/FunctionLibraries.h"

#include "compiler/lowering/ExternForms.h"
#include "compiler/lowering/llvm/BitcodeLibrary.h"
#include "compiler/support/InputFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::lowering;

static constexpr llvm::StringLiteral kOwnPrefix = "__nv_", kOwnName = "libdevice";

struct FunctionLibraries::File {
  std::string path;
  std::unique_ptr<llvm::MemoryBuffer> bytes; ///< null: it cannot be read
  std::error_code error;
};

FunctionLibraries::FunctionLibraries(llvm::StringRef own, const math::HostMath &features,
                                     llvm::ArrayRef<support::ExternLibrary> named)
    : own(own), features(features), named(named) {}
FunctionLibraries::~FunctionLibraries() = default;

const FunctionLibraries::File &FunctionLibraries::fileAt(llvm::StringRef path) {
  auto known = llvm::find_if(files, [&](const auto &file) { return file->path == path; });
  if (known == files.end()) {
    auto read = support::readLibrary(path);
    files.push_back(std::make_unique<File>(File{path.str(), read ? std::move(*read) : nullptr, read.getError()}));
    known = std::prev(files.end());
  }
  return **known;
}

llvm::StringRef FunctionLibraries::contents(llvm::StringRef path) {
  const llvm::MemoryBuffer *bytes = fileAt(path).bytes.get();
  return bytes ? bytes->getBuffer() : llvm::StringRef();
}

llvm::Function *FunctionLibraries::declare(llvm::Module &module, llvm::StringRef path, llvm::StringRef symbol) {
  return declareFrom(path.empty() ? own : contents(path), module, symbol);
}

/// Defines a declared function of our library by the inline code that kernels use.
static void defineInline(llvm::Function &function, const math::HostMath &features) {
  llvm::SmallVector<llvm::Value *, 3> arguments;
  for (llvm::Argument &argument : function.args())
    arguments.push_back(&argument);
  llvm::IRBuilder<> ir(llvm::BasicBlock::Create(function.getContext(), "entry", &function));
  if (llvm::Value *result = emitExtern(ir, function.getName(), arguments, features)) {
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

llvm::Error FunctionLibraries::linkFiles(llvm::Module &module, Callers &callers) {
  recordCaller(module, "", callers);
  for (const auto &file : files) {
    if (!file->bytes)
      continue;
    if (llvm::Error error = linkFrom(file->bytes->getBuffer(), module))
      return llvm::createFileError(file->path, std::move(error));
    recordCaller(module, file->path, callers);
  }
  return llvm::Error::success();
}

llvm::Error FunctionLibraries::link(llvm::Module &module) {
  Callers callers;
  if (llvm::Error error = linkFiles(module, callers))
    return error;
  if (!hasDeclarations(module, kOwnPrefix))
    return llvm::Error::success();
  if (llvm::Error error = linkFrom(own, module))
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

llvm::StringRef FunctionLibraries::pathOf(llvm::StringRef name, llvm::StringRef symbol) {
  if (!name.empty()) {
    const auto found = llvm::find_if(named, [&](const auto &library) { return library.name == name; });
    return found == named.end() ? llvm::StringRef() : llvm::StringRef(found->path);
  }
  llvm::StringRef first;
  for (const support::ExternLibrary &library : named) {
    if (library.name == kOwnName)
      continue;
    if (definesFunction(contents(library.path), symbol))
      return library.path;
    first = first.empty() ? llvm::StringRef(library.path) : first;
  }
  return first;
}

/// An argument as the function takes it; null where its type differs by more than a pointer and the integer for it.
static llvm::Value *argumentAs(IrBuilder &ir, llvm::Value *value, llvm::Type *type) {
  llvm::Type *const own = value->getType();
  if (own == type)
    return value;
  if (own->isIntegerTy(64) && type->isPointerTy())
    return ir.CreateIntToPtr(value, type);
  return own->isPointerTy() && type->isIntegerTy(64) ? ir.CreatePtrToInt(value, type) : nullptr;
}

/// Calls a function without a result for one that the declaration asks for; callers of such functions ignore it.
static llvm::Value *resultAs(IrBuilder &ir, llvm::CallInst *call, llvm::Type *type) {
  return call->getType()->isVoidTy() ? llvm::Constant::getNullValue(type) : argumentAs(ir, call, type);
}

static bool canReturn(const llvm::Function &function, llvm::Type *result) {
  llvm::Type *const own = function.getReturnType();
  return own == result || own->isVoidTy() || (own->isPointerTy() && result->isIntegerTy(64)) ||
         (own->isIntegerTy(64) && result->isPointerTy());
}

llvm::Value *FunctionLibraries::call(IrBuilder &ir, const ExternCall &call) {
  llvm::Module &module = *ir.GetInsertBlock()->getModule();
  llvm::Function *function = declare(module, call.libraryPath, call.symbol);
  if (!function || function->arg_size() != call.arguments.size() || !canReturn(*function, call.result))
    return nullptr;
  llvm::SmallVector<llvm::Value *, 8> arguments;
  for (auto [parameter, argument] : llvm::zip_equal(function->args(), call.arguments)) {
    arguments.push_back(argumentAs(ir, argument, parameter.getType()));
    if (!arguments.back())
      return nullptr;
  }
  return resultAs(ir, ir.CreateCall(function, arguments), call.result);
}

/// "(float, i32) -> float" for the types that a function takes, or is called with.
static std::string typesOf(llvm::ArrayRef<llvm::Type *> parameters, const llvm::Type *result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << "(";
  llvm::interleaveComma(parameters, stream, [&](const llvm::Type *type) { stream << *type; });
  stream << ") -> " << *result;
  return text;
}

static std::string wrongTypes(const llvm::FunctionType &type, const ExternCall &call) {
  llvm::SmallVector<llvm::Type *, 4> argumentTypes;
  for (const llvm::Value *argument : call.arguments)
    argumentTypes.push_back(argument->getType()->getScalarType());
  return " with these types: its own are " + typesOf(type.params(), type.getReturnType()) + ", the call's are " +
         typesOf(argumentTypes, call.result);
}

std::string FunctionLibraries::describeLack(const ExternCall &call) {
  const std::string name = "`" + call.libraryPath.str() + "`";
  const File &file = fileAt(call.libraryPath);
  if (file.error == std::errc::is_a_directory)
    return name + ", which is a folder";
  if (file.error == std::errc::no_such_file_or_directory)
    return name + ", which is no file: there is nothing of that name";
  if (file.error)
    return name + ", which cannot be read: " + file.error.message();
  llvm::LLVMContext context;
  llvm::Expected<const llvm::FunctionType *> type = typeIn(file.bytes->getBuffer(), context, call.symbol);
  if (!type)
    return name + ", which is no LLVM bitcode: " + llvm::toString(type.takeError());
  return name + (*type ? wrongTypes(**type, call) : ", which has no such symbol");
}
