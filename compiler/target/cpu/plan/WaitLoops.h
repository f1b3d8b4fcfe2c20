// Finds loops in which a program may wait for other programs.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::cpu {

/// Whether the loop ends by what other programs write: its condition depends on the result of an atomic operation, on
/// a volatile load, or on a load from the same address at each iteration.
bool mayWait(mlir::scf::WhileOp loop);

/// Whether it does nothing else: it stores nothing, multiplies nothing and adds nothing to memory. A loop that does may
/// take tiles by an atomic counter.
bool onlyPolls(mlir::scf::WhileOp loop);

} // namespace nereid::cpu
