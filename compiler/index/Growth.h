// By how much scalars and addresses grow from one iteration of a loop, or one program, to the next.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AffineForm.h"

#include "llvm/ADT/DenseSet.h"

namespace nereid::index {

/// Growth in bytes for pointers; nothing where it is not known before the first step.
class Growth {
public:
  /// From one iteration to the next.
  Growth(AffineInfo &affineInfo, mlir::scf::ForOp loop) : affineInfo(affineInfo), loop(loop) {}
  /// From one program to the next one along the first axis of the grid.
  Growth(AffineInfo &affineInfo, tt::FuncOp kernel);

  std::optional<Polynomial> of(mlir::Value value) { return of(value, 0); }
  /// The growth of the address or value of a tile's first element.
  std::optional<Polynomial> of(const AffineForm &form);

private:
  std::optional<Polynomial> of(mlir::Value value, unsigned depth);
  std::optional<Polynomial> ofCarried(mlir::BlockArgument argument);
  bool isCounter(mlir::Value value);
  bool isInvariant(mlir::Value value);
  std::optional<Polynomial> invariant(mlir::Value value);

  AffineInfo &affineInfo;
  mlir::scf::ForOp loop;                 ///< null for programs
  llvm::DenseSet<mlir::Value> dependent; ///< of programs: what is not the same in the next one
};

} // namespace nereid::index
