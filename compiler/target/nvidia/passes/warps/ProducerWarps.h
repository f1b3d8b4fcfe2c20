// Finds the part of a kernel that computes the addresses of some loads, and builds it again for warps of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/DenseSet.h"

namespace nereid::nvidia {

class ProducerWarps {
public:
  /// `numWarps` warps run the copy.
  explicit ProducerWarps(unsigned numWarps) : numWarps(numWarps) {}

  /// Adds what `load`, of pointers or of a whole tile, needs: its pointers and mask, or its indices, and the loops
  /// around it. False where other warps cannot compute that as well; then nothing may be built.
  bool add(mlir::Operation *load);

  /// Adds the user's assumptions on scalars, from which alignments follow.
  void addAssumptions(tt::FuncOp function);

  /// The functions that build the copy's parts which the original does not have.
  struct Hooks {
    /// Builds what replaces a load.
    llvm::function_ref<void(mlir::OpBuilder &, mlir::Operation *, const mlir::IRMapping &)> copyLoad;
    /// Values that a loop of the copy carries besides, in its first iteration; empty for most loops.
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::scf::ForOp)> carriedInto;
    /// Tells the carried values of an iteration of such a loop, and builds those of the next.
    llvm::function_ref<void(mlir::scf::ForOp, mlir::ValueRange)> beginIteration;
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::scf::ForOp)> endIteration;
    llvm::function_ref<void(mlir::scf::ForOp, mlir::ValueRange)> afterLoop;
  };
  void build(mlir::Block &from, mlir::OpBuilder &builder, const Hooks &hooks);

private:
  bool need(mlir::Value value);
  bool needAll(mlir::ValueRange needed);
  bool needOp(mlir::Operation *op);
  bool needAround(mlir::Operation *op);
  mlir::Type typeFor(mlir::Type type) const;
  ttg::LayoutEncoding encodingFor(ttg::LayoutEncoding encoding) const;
  void buildBlock(mlir::Block &from, mlir::OpBuilder &builder, mlir::IRMapping &values, const Hooks &hooks);
  void buildLoop(mlir::scf::ForOp loop, mlir::OpBuilder &builder, mlir::IRMapping &values, const Hooks &hooks);
  void buildBranch(mlir::scf::IfOp branch, mlir::OpBuilder &builder, mlir::IRMapping &values, const Hooks &hooks);
  void buildOp(mlir::Operation *op, mlir::OpBuilder &builder, mlir::IRMapping &values);

  const unsigned numWarps;
  llvm::DenseSet<mlir::Operation *> ops, loads;
  llvm::DenseSet<mlir::Value> values;
};

} // namespace nereid::nvidia
