// Declares the passes of this folder.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/gluon/Dialect.h"

#include "mlir/Pass/Pass.h"

namespace nereid::gluon {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/passes/gluon/Passes.h.inc"
} // namespace nereid::gluon
