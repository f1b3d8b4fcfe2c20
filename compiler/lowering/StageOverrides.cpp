// Reads LLVM IR that the user supplies in place of a kernel's, and checks that it matches the kernel.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/StageOverrides.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/Kernel.h"

#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

FailureOr<std::unique_ptr<llvm::Module>> lowering::parseLlvm(const StageOverride &stageOverride, tt::FuncOp kernel,
                                                             llvm::LLVMContext &context) {
  llvm::SMDiagnostic error;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(stageOverride.text, stageOverride.path), error, context);
  if (!module)
    return tt::report(kernel.getLoc(), diag::OverrideText, stageOverride.path, error.getLineNo(), error.getMessage());
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  if (llvm::verifyModule(*module, &stream))
    return tt::report(kernel.getLoc(), diag::OverrideInvalid, stageOverride.path, problems);
  const llvm::Function *own = module->getFunction(kernel.getSymName());
  if (!own || own->isDeclaration())
    return tt::report(kernel.getLoc(), diag::OverrideEntry, stageOverride.path, "function", kernel.getSymName());
  const size_t wanted = paramsOf(kernel).size() + 2;
  if (own->arg_size() != wanted)
    return tt::report(kernel.getLoc(), diag::OverrideParameters, stageOverride.path, kernel.getSymName(),
                      own->arg_size(), wanted);
  return module;
}

LogicalResult lowering::missingEntry(const StageOverride &stageOverride, StringRef kind, tt::FuncOp kernel) {
  return tt::report(kernel.getLoc(), diag::OverrideEntry, stageOverride.path, kind, kernel.getSymName());
}
