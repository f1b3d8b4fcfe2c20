// Registers the `ttag` dialect with its implementation of ttg::TargetInterface.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace nereid::amd {

void registerDialect(mlir::DialectRegistry &registry);

} // namespace nereid::amd
