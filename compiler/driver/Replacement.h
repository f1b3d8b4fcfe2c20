// Takes a module that the user has written in place of the one that the compiler made.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/driver/Backend.h"

namespace nereid::driver {

/// Whether the target lets users write that stage; false after a diagnostic.
bool checkReplaceable(const Request::Replacement &replacement, const Backend &backend,
                      support::DiagnosticEngine &diagnostics);

/// The written module, whose kernel has the parameters of `kernel`; null after a diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> readReplacement(const Request::Replacement &replacement, tt::FuncOp kernel,
                                                  support::DiagnosticEngine &diagnostics);

/// The one public function of a kernel's module; null after an error.
tt::FuncOp kernelOf(mlir::ModuleOp module, support::DiagnosticEngine &diagnostics);

} // namespace nereid::driver
