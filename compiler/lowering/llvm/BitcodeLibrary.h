// Declares and links elementwise functions that are held as LLVM bitcode.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace nereid::lowering {

/// The function of that name, declared in `module`; null where the bitcode has none.
llvm::Function *declareFrom(llvm::StringRef bitcode, llvm::Module &module, llvm::StringRef name);
/// The type of the function of that name; null where the bitcode has none. An error: it is no bitcode.
llvm::Expected<const llvm::FunctionType *> typeIn(llvm::StringRef bitcode, llvm::LLVMContext &context,
                                                  llvm::StringRef name);
/// Whether it is bitcode with a function of that name.
bool definesFunction(llvm::StringRef bitcode, llvm::StringRef name);
/// Whether the function takes these values and returns this type.
bool accepts(const llvm::Function &function, llvm::ArrayRef<llvm::Value *> arguments, llvm::Type *result);
/// Copies those functions of the bitcode that are declared in `module`, with what they call. They become internal.
/// Where there are any, variables that the host initialises by name are copied too, and keep their names.
llvm::Error linkFrom(llvm::StringRef bitcode, llvm::Module &module);
/// Whether functions with that prefix are declared and have no body.
bool hasDeclarations(const llvm::Module &module, llvm::StringRef prefix);

} // namespace nereid::lowering
