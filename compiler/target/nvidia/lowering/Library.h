// Provides functions that kernels call by name: our implementation of libdevice, and files of LLVM bitcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/math/Math.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::nvidia {

/// compiler/target/nvidia/library as LLVM bitcode.
llvm::StringRef libraryBitcode();

/// The libraries of one compilation.
class Libraries {
public:
  explicit Libraries(const math::HostMath &features);
  Libraries(const Libraries &) = delete;
  Libraries &operator=(const Libraries &) = delete;
  ~Libraries();

  /// Declares a function of the file at `path`, or of our library where that is empty; null where there is none.
  llvm::Function *declare(llvm::Module &module, llvm::StringRef path, llvm::StringRef symbol);
  /// Links the code of declared functions. The error of a file that does not fit is an llvm::FileError.
  llvm::Error link(llvm::Module &module);

private:
  struct File;
  llvm::StringRef contents(llvm::StringRef path);
  /// For functions of our library, the path of the file that calls them; empty for the kernel.
  using Callers = llvm::StringMap<std::string>;
  llvm::Error linkFiles(llvm::Module &module, Callers &callers);

  const math::HostMath &features;
  std::vector<std::unique_ptr<File>> files;
};

} // namespace nereid::nvidia
