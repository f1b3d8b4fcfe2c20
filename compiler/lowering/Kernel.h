// Finds a module's kernel and lays out its parameters in the launch buffer, the same way for every target.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <vector>

namespace nereid::lowering {

/// A parameter's location in the packed launch buffer.
struct Param {
  uint32_t offset = 0;
  uint32_t size = 0;
};

/// The module's one public function, whose control flow is structured; reports a diagnostic where there is none.
mlir::FailureOr<tt::FuncOp> findKernel(mlir::ModuleOp module);

/// Reports a function whose control flow is not structured; called functions keep their own.
mlir::LogicalResult checkStructure(mlir::ModuleOp module);

/// The kernel's own parameters in order, each aligned to its size.
std::vector<Param> paramsOf(tt::FuncOp kernel);

} // namespace nereid::lowering
