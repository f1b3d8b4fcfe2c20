// Errors of ops and attributes as texts, which built-ins report at their calls.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace nereid::sema {

/// The first error that `run` reports; empty where there is none.
std::string errorOf(mlir::MLIRContext *context, llvm::function_ref<void()> run);
/// "'ttg.local_store' op writes ..." without the op.
std::string withoutOp(llvm::StringRef message);
/// The rule of its own that the op breaks, without the op's name; nothing where it keeps them all.
std::optional<std::string> brokenRule(mlir::Operation *op);

} // namespace nereid::sema
