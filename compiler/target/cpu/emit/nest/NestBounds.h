// The bounds of a nest's loops: where the prefixes of its masks end.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/nest/NestContext.h"
#include "compiler/target/cpu/plan/Masks.h"

namespace nereid::cpu {

class NestBounds {
public:
  explicit NestBounds(NestContext &context) : context(context), ir(context.ir), nest(context.nest) {}

  /// Computes the members below at the insert point, which is before all loops.
  void compute();
  llvm::Value *leastPrefix = nullptr, *greatestPrefix = nullptr; ///< of the vector dimension; null where it has none
  llvm::Value *assumption = nullptr;                             ///< whether the addresses of the main part are affine

  llvm::Value *clamped(const Polynomial &bound, unsigned dim) {
    return context.scalars.clamped(bound, nest.shape[dim]);
  }
  /// The bound that all prefixes along the dimension share; null where there is none, or several.
  const Polynomial *commonPrefix(unsigned dim) const;
  /// The end of an outer loop: nests that only write skip indices at which no write's prefix holds.
  llvm::Value *outerEnd(unsigned dim);
  /// The first index along the vector dimension from which the write is masked off.
  llvm::Value *writeEnd(const Root &root, llvm::Value *fallback);
  /// Whether the write's mask includes a prefix of the vector dimension.
  bool endsWithPrefix(const Root &root) const;
  /// Whether all conditions of the nest's masks hold.
  llvm::Value *allConditions();

private:
  /// The factors of the write's mask; empty where it has none.
  llvm::SmallVector<Conjunct, 4> maskParts(const Root &root) const;
  bool isOfVector(const Conjunct &part) const {
    return part.prefix && static_cast<int>(part.prefix->dim) == nest.vectorDim;
  }

  NestContext &context;
  llvm::IRBuilder<> &ir;
  const Nest &nest;
};

} // namespace nereid::cpu
