// Links an object file into a shared object, in this process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace nereid::lowering {

/// The linker gets no file for its input or output: no fault of the kernel's or the compiler's.
class NoScratchFile : public llvm::ErrorInfo<NoScratchFile> {
public:
  explicit NoScratchFile(int number) : number(number) {}
  static char ID;
  void log(llvm::raw_ostream &stream) const override;
  std::error_code convertToErrorCode() const override { return {number, std::generic_category()}; }

private:
  int number; ///< of the C library
};

/// Links one relocatable object into a self-contained ELF shared object. The result depends on libm where the object
/// leaves a symbol undefined. Safe to call from several threads; links run one at a time.
llvm::Expected<std::vector<char>> linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname);

/// A linker: takes a command line, writes errors to the stream, returns whether it succeeded.
using Linker = llvm::function_ref<bool(llvm::ArrayRef<const char *> args, llvm::raw_ostream &errors)>;
/// Links by another linker than lld. A fatal error of LLVM in it is returned as an error.
llvm::Expected<std::vector<char>> linkShared(llvm::ArrayRef<char> object, llvm::StringRef soname, Linker linker);

} // namespace nereid::lowering
