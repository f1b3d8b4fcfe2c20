// The symbol of a kernel in the compiled code.
// SPDX-License-Identifier: MIT
//
// A kernel may have any name that Python has. As a symbol some of these mean something else: LLVM takes a function
// named `memcpy` or `exp` for the C library's and may call it for a loop or a built-in, device libraries define
// `__nv_expf`, a linker looks for `_init`, and PTX reads `WARP_SZ` as a number. A function of an IR text may have any
// text as its name; assemblers take letters, digits and `_`.
#include "compiler/driver/EntryName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/TargetParser/Triple.h"

namespace nereid::driver {

static bool isTaken(llvm::StringRef name) {
  static constexpr llvm::StringLiteral others[] = {"main",    "_init",   "_fini", "_start", "_end",   "_edata",
                                                   "_etext",  "environ", "errno", "stdin",  "stdout", "stderr",
                                                   "vprintf", "exit",    "abort", "WARP_SZ"};
  if (name.starts_with("__") || llvm::is_contained(others, name)) // C reserves names that begin with `__`
    return true;
  static const llvm::TargetLibraryInfoImpl library(llvm::Triple("x86_64-unknown-linux-gnu"));
  llvm::LibFunc function;
  return library.getLibFunc(name, function);
}

std::string entryName(llvm::StringRef kernel) {
  std::string name = kernel.str();
  for (char &letter : name)
    if (!llvm::isAlnum(letter) && letter != '_')
      letter = '_';
  const bool isSymbol = !name.empty() && !llvm::isDigit(name.front());
  return (isSymbol && !isTaken(name) ? "" : "kernel_") + name;
}

} // namespace nereid::driver
