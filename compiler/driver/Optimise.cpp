// Runs the passes that every target begins with, for targets whose compiler is another package's.
// SPDX-License-Identifier: MIT
#include "compiler/driver/Compiler.h"
#include "compiler/driver/PassDiagnostics.h"
#include "compiler/passes/tt/Pipeline.h"
#include "compiler/support/ForkGate.h"
#include "compiler/support/StackRoom.h"

#include "mlir/Pass/PassManager.h"

using namespace nereid;

static bool runPasses(mlir::ModuleOp module, bool fusesFloats, support::DiagnosticEngine &diagnostics) {
  const support::ForkGate gate;
  const driver::PassDiagnostics messages(module.getContext());
  mlir::PassManager passes(module.getContext());
  tt::buildOptimisePipeline(passes, fusesFloats);
  if (mlir::succeeded(passes.run(module)))
    return true;
  messages.reportErrors(diagnostics, {}, "ttir", [](llvm::StringRef) { return std::string(); });
  return false;
}

bool driver::optimise(mlir::ModuleOp module, bool fusesFloats, support::DiagnosticEngine &diagnostics) {
  bool isDone = false;
  support::runWithStackRoom([&] { isDone = runPasses(module, fusesFloats, diagnostics); });
  return isDone;
}
