// MLIR contexts with our dialects; modules from text and to text.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Diagnostics.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;
using namespace nereid::driver;

std::unique_ptr<mlir::MLIRContext> driver::createContext() {
  // One kernel is too little work for a pool of threads.
  auto context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  context->loadDialect<tt::TtDialect, ttg::TtgDialect, mlir::arith::ArithDialect, mlir::math::MathDialect, mlir::scf::SCFDialect,
                       mlir::ub::UBDialect, mlir::cf::ControlFlowDialect>();
  context->printOpOnDiagnostic(false);
  return context;
}

mlir::OwningOpRef<mlir::ModuleOp> driver::parse(mlir::MLIRContext &context, const std::string &text,
                                                const std::string &name, support::DiagnosticEngine &diagnostics) {
  std::string problems;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream os(problems);
    if (!problems.empty())
      os << "\n";
    os << diagnostic.getLocation() << ": " << diagnostic;
    return mlir::success();
  });
  mlir::ParserConfig config(&context);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, config, name);
  if (!module)
    diagnostics.report(diag::InvalidIr, {}, problems.empty() ? "the text holds no module" : problems);
  return module;
}

std::string driver::printModule(mlir::ModuleOp module, bool withLocations) {
  std::string text;
  llvm::raw_string_ostream os(text);
  mlir::OpPrintingFlags flags;
  if (withLocations)
    flags.enableDebugInfo(true, /*prettyForm=*/false);
  flags.printNameLocAsPrefix(true); // `%x`, as the source calls it
  module.print(os, flags);
  os << "\n";
  return text;
}
