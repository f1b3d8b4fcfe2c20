// Reads LLVM IR that the user supplies in place of a kernel's, and checks that it matches the kernel.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/StageOverrides.h"

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

/// The verifier's errors about the module; empty where it is valid. LLVM's reader ends with a fatal error, and without
/// these words, where a module with debug information is invalid; without a version of that it reads any module.
static std::string problemsOf(const StageOverride &stageOverride) {
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo *, void *) {}); // it warns of the version
  std::string text = stageOverride.text;
  constexpr llvm::StringLiteral version = "Debug Info Version", other = "Debug Info version";
  for (size_t at = text.find(version.data()); at != std::string::npos; at = text.find(version.data(), at))
    text.replace(at, version.size(), other.data());
  llvm::SMDiagnostic error;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(text, stageOverride.path), error, context);
  std::string problems;
  llvm::raw_string_ostream stream(problems);
  const bool isInvalid = module && llvm::verifyModule(*module, &stream);
  return isInvalid ? problems : "";
}

FailureOr<std::unique_ptr<llvm::Module>> lowering::parseLlvm(const StageOverride &stageOverride, tt::FuncOp kernel,
                                                             llvm::LLVMContext &context) {
  if (const std::string problems = problemsOf(stageOverride); !problems.empty())
    return tt::report(kernel.getLoc(), diag::OverrideInvalid, stageOverride.path, problems);
  llvm::SMDiagnostic error;
  auto module = llvm::parseIR(llvm::MemoryBufferRef(stageOverride.text, stageOverride.path), error, context);
  if (!module)
    return tt::report(kernel.getLoc(), diag::OverrideText, stageOverride.path, error.getLineNo(), error.getMessage());
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
