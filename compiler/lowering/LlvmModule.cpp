// Verifies and prints modules of LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/LlvmModule.h"

#include "llvm/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;

mlir::LogicalResult lowering::verifyLlvm(mlir::Operation *kernel, const llvm::Module &module) {
#ifndef NDEBUG
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (llvm::verifyModule(module, &stream))
    return kernel->emitError() << "invalid LLVM IR: " << text;
#endif
  return mlir::success();
}

std::string lowering::printLlvm(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}
