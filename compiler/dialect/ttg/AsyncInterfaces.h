// Interfaces and traits by which analyses and passes of `ttg` recognise ops of other dialects that run asynchronously
// or access memory other than through pointers. SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"

namespace nereid::ttg {

/// Marks ops that start asynchronous writes to shared memory which are complete once threads have passed a matching
/// wait op. A barrier orders accesses before the op; accesses after the wait need no barrier.
template <typename ConcreteOp> struct StartsTransfer : mlir::OpTrait::TraitBase<ConcreteOp, StartsTransfer> {};

/// Marks ops of other dialects that multiply matrices, like `tt.dot`.
template <typename ConcreteOp> struct ComputesDot : mlir::OpTrait::TraitBase<ConcreteOp, ComputesDot> {};

/// Marks ops whose result describes the memory that their first operand points to.
template <typename ConcreteOp> struct DescribesMemory : mlir::OpTrait::TraitBase<ConcreteOp, DescribesMemory> {};

/// Whether the op is a dot, by whatever instructions.
inline bool isDot(mlir::Operation *op) { return llvm::isa<tt::DotOp>(op) || op->hasTrait<ComputesDot>(); }

} // namespace nereid::ttg

#include "compiler/dialect/ttg/AsyncInterfaces.h.inc"
