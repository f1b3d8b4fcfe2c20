// Keeps what code generation reports about a kernel's inline assembly; LLVM's own handler would end the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <optional>
#include <string>

namespace llvm {
class LLVMContext;
}

namespace nereid::lowering {

struct AsmError {
  std::string text;               ///< empty: no error
  std::optional<uint64_t> cookie; ///< as given to `emitInlineAsm`
  unsigned line = 0, column = 0;  ///< of the source, by the call's debug location; 0: unknown
};

/// Keeps the first error of code generation in `context`. `error` must live as long as the context.
void keepAsmErrors(llvm::LLVMContext &context, AsmError &error);

/// The location of the op whose inline assembly has the error; `otherwise` where no op of the module has it.
mlir::Location locationOf(const AsmError &error, mlir::ModuleOp module, mlir::Location otherwise);

} // namespace nereid::lowering
