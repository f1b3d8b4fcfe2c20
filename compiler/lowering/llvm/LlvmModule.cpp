// Verifies and prints modules of LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/LlvmModule.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/llvm/Link.h"

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

mlir::LogicalResult lowering::diagnose(mlir::Operation *op, llvm::Error error) {
  const bool isOfSystem = error.isA<NoScratchFile>();
  const std::string text = llvm::toString(std::move(error));
  if (isOfSystem)
    return tt::report(op->getLoc(), diag::LinkerFile, text);
  return op->emitError() << text;
}

std::string lowering::printLlvm(const llvm::Module &module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}
