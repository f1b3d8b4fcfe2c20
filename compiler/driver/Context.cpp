// Creates MLIR contexts with all dialects, and prints modules.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/gluon/Dialect.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/driver/Compiler.h"
#include "compiler/support/StackRoom.h"
#include "compiler/target/amd/TargetInterface.h"
#include "compiler/target/nvidia/TargetInterface.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::driver;

void driver::registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<check::CheckDialect, gluon::GluonDialect, imported::LlvmDialect, imported::GpuDialect, tt::TtDialect,
                  ttg::TtgDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                  mlir::ub::UBDialect, mlir::cf::ControlFlowDialect>();
  nvidia::registerDialect(registry);
  amd::registerDialect(registry);
}

std::unique_ptr<mlir::MLIRContext> driver::createContext() {
  mlir::DialectRegistry registry;
  registerDialects(registry);
  // One kernel is too little work for a pool of threads.
  auto context = std::make_unique<mlir::MLIRContext>(registry, mlir::MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->printOpOnDiagnostic(false);
  return context;
}

std::string driver::printModule(mlir::ModuleOp module, bool withLocations, bool withNames) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  flags.printNameLocAsPrefix(withNames); // `%x`, as in the source
  support::runWithStackRoom([&] { module.print(os, flags); });
  os << "\n";
  return text;
}
