// Interfaces and traits by which analyses and passes of `ttg` recognise ops of other dialects that run asynchronously
// or access memory other than through pointers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace nereid::ttg {

/// Marks ops that start asynchronous writes to shared memory which are complete once threads have passed a matching
/// wait op. A barrier orders accesses before the op; accesses after the wait need no barrier.
template <typename ConcreteOp> struct StartsTransfer : mlir::OpTrait::TraitBase<ConcreteOp, StartsTransfer> {};

/// Marks ops whose result describes the memory that their first operand points to.
template <typename ConcreteOp> struct DescribesMemory : mlir::OpTrait::TraitBase<ConcreteOp, DescribesMemory> {};

} // namespace nereid::ttg

#include "compiler/dialect/ttg/AsyncInterfaces.h.inc"
