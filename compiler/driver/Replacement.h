// Parses a module with which the user replaces the compiler's own.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Backend.h"

namespace nereid::driver {

/// Whether the target lets users replace that stage; reports an error otherwise.
bool checkReplaceable(const Request::Replacement &replacement, const Backend &backend,
                      support::DiagnosticEngine &diagnostics);

/// The user's module, whose kernel has the parameters of `kernel`; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> readReplacement(const Request::Replacement &replacement, tt::FuncOp kernel,
                                                  support::DiagnosticEngine &diagnostics);

/// The one public function of a kernel's module; null after an error.
tt::FuncOp kernelOf(mlir::ModuleOp module, support::DiagnosticEngine &diagnostics);

} // namespace nereid::driver
