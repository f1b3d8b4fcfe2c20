// What analyses need to know of ops of other dialects that work beside the threads or name memory by other means than
// pointers. SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/OpDefinition.h"

namespace nereid::ttg {

/// Marks ops that start writes to shared memory which end before threads have passed a wait of their own for them: a
/// barrier orders what came before the op, none what comes after the wait.
template <typename ConcreteOp> struct StartsTransfer : mlir::OpTrait::TraitBase<ConcreteOp, StartsTransfer> {};

/// Marks ops whose result stands for the memory behind the pointer that is their first operand.
template <typename ConcreteOp> struct DescribesMemory : mlir::OpTrait::TraitBase<ConcreteOp, DescribesMemory> {};

} // namespace nereid::ttg
