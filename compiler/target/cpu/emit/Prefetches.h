// The distances at which the nests and dots of a loop or program prefetch.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// The tiles that a dot in a loop prefetches while it multiplies.
struct DotPrefetches {
  /// Loads whose tiles of the next iteration are prefetched, and their distances in bytes.
  llvm::SmallVector<std::pair<mlir::Operation *, llvm::Value *>, 2> loads;
  mlir::Operation *store =
      nullptr; ///< a store after the loop, whose tile is prefetched in the last iteration; may be null
  llvm::Value *isLast = nullptr; ///< whether this is the last iteration
};

class PrefetchValues {
public:
  explicit PrefetchValues(EmitContext &context) : context(context), ir(context.ir) {}

  /// At the beginning of an iteration of the loop, for the next one.
  void beginIteration(mlir::scf::ForOp loop);
  /// At the beginning of a program, for the next one.
  void beginProgram();

  /// The prefetch distance of this load in this nest, in bytes; null where it is not prefetched here.
  llvm::Value *distance(mlir::Operation *load, const Nest &nest) const { return distances.lookup({load, nest.id}); }
  DotPrefetches of(mlir::Operation *dot) const { return ofDots.lookup(dot); }

private:
  void add(const Prefetches &prefetches, llvm::Value *hasNext);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, llvm::Value *> distances;
  llvm::DenseMap<mlir::Operation *, DotPrefetches> ofDots;
};

} // namespace nereid::cpu
