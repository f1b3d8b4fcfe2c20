// The passes of this folder, as Passes.td declares them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace nereid::cpu {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu
