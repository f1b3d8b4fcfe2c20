// Handles LLVM's diagnostics of one context.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/AsmErrors.h"

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace nereid;

namespace {
struct AsmErrors : llvm::DiagnosticHandler {
  explicit AsmErrors(lowering::AsmError &error) : error(error) {}

  bool handleDiagnostics(const llvm::DiagnosticInfo &info) override {
    if (info.getSeverity() != llvm::DS_Error || !error.text.empty())
      return true;
    if (auto *parsed = llvm::dyn_cast<llvm::DiagnosticInfoSrcMgr>(&info)) {
      const llvm::SMDiagnostic &where = parsed->getSMDiag();
      error.text = where.getMessage().str() + ": `" + where.getLineContents().trim().str() + "`";
      error.cookie = parsed->getLocCookie();
      return true;
    }
    llvm::raw_string_ostream stream(error.text);
    llvm::DiagnosticPrinterRawOStream printer(stream);
    info.print(printer);
    auto *assembly = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(&info);
    if (!assembly)
      return true;
    error.cookie = assembly->getLocCookie();
    if (const llvm::Instruction *call = assembly->getInstruction(); call && call->getDebugLoc()) {
      error.line = call->getDebugLoc().getLine();
      error.column = call->getDebugLoc().getCol();
    }
    return true;
  }

  lowering::AsmError &error;
};
} // namespace

void lowering::keepAsmErrors(llvm::LLVMContext &context, AsmError &error) {
  context.setDiagnosticHandler(std::make_unique<AsmErrors>(error));
}

mlir::Location lowering::locationOf(const AsmError &error, mlir::ModuleOp module, mlir::Location otherwise) {
  mlir::Location where = otherwise;
  module.walk([&](tt::ElementwiseInlineAsmOp op) {
    auto range = op.getLoc()->findInstanceOf<mlir::FileLineColRange>();
    if (range && range.getStartLine() == error.line && range.getStartColumn() == error.column)
      where = op.getLoc();
  });
  return where;
}
