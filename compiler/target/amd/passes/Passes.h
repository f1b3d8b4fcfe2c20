// Declares the passes of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/Pass/Pass.h"

namespace nereid::amd {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/target/amd/passes/Passes.h.inc"
} // namespace nereid::amd
