// Declares the passes of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/Pass/Pass.h"

namespace nereid::nvidia {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia
