// Declares the passes of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Pass/Pass.h"

namespace nereid::tt {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt
