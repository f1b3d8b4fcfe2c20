// Finds loops in which a program may wait for other programs.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <optional>

namespace nereid::cpu {

/// The work of a loop that may wait; the values are those of runtime/cpu/HostCalls.h.
enum class WaitKind : uint32_t {
  Polls,
  Works,  ///< it stores, multiplies or adds to memory: it may take tiles by an atomic counter
  Counts, ///< it counts its tries, or goes along a row of flags: it ends without others, maybe with another result
};

/// The work of a loop that may end by what other programs write: its condition depends on the result of an atomic
/// operation, on a volatile load, or on a load from the same address at each iteration, unless it counts up to what was
/// loaded.
std::optional<WaitKind> waitKind(mlir::scf::WhileOp loop);

} // namespace nereid::cpu
