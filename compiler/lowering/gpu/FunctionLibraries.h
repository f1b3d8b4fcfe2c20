// Provides functions that GPU kernels call by name: our implementation of libdevice, and files of LLVM bitcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"
#include "compiler/math/Math.h"
#include "compiler/support/Options.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::lowering {

/// The libraries of one compilation.
class FunctionLibraries {
public:
  /// `own` is the bitcode of the target's library; `files` are those of the user.
  FunctionLibraries(llvm::StringRef own, const math::HostMath &features, llvm::ArrayRef<support::ExternLibrary> files);
  FunctionLibraries(const FunctionLibraries &) = delete;
  FunctionLibraries &operator=(const FunctionLibraries &) = delete;
  ~FunctionLibraries();

  /// The path that the user gave for a library of this name; empty where none was given. A call that names no library
  /// takes the first that defines the symbol.
  llvm::StringRef pathOf(llvm::StringRef name, llvm::StringRef symbol);
  /// Calls a function of a library; null where there is none with these types.
  llvm::Value *call(IrBuilder &ir, const ExternCall &call);
  /// The file of such a call, and why the function cannot be called from it.
  std::string describeLack(const ExternCall &call);

  /// Declares a function of the file at `path`, or of our library where that is empty; null where there is none.
  llvm::Function *declare(llvm::Module &module, llvm::StringRef path, llvm::StringRef symbol);
  /// Links the code of declared functions. The error of a file that does not fit is an llvm::FileError.
  llvm::Error link(llvm::Module &module);

private:
  struct File;
  const File &fileAt(llvm::StringRef path);
  llvm::StringRef contents(llvm::StringRef path);
  /// For functions of our library, the path of the file that calls them; empty for the kernel.
  using Callers = llvm::StringMap<std::string>;
  llvm::Error linkFiles(llvm::Module &module, Callers &callers);

  llvm::StringRef own;
  const math::HostMath &features;
  llvm::ArrayRef<support::ExternLibrary> named;
  std::vector<std::unique_ptr<File>> files;
};

} // namespace nereid::lowering
