// Calls of functions of other libraries: overloads by the arguments' types.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Builtin.h"

#include <string>

namespace nereid::sema {

/// A function for one tuple of argument types.
struct Overload {
  llvm::SmallVector<Type, 4> args;
  std::string symbol;
  Type result;
  bool isTruth = false; ///< the result is a bool: true where it is not 0
};

/// Emits the call of the overload that matches the arguments, as they are or promoted together.
Value emitExtern(const CallSite &site, llvm::StringRef library, llvm::StringRef path, std::vector<Value> args,
                 llvm::ArrayRef<Overload> overloads, bool isPure);

/// Adds the functions of libdevice.
void appendLibdevice(std::vector<Builtin> &entries);

} // namespace nereid::sema
