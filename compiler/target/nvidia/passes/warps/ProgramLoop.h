// Lets CTAs stay and run one program of the grid after another.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/target/nvidia/passes/warps/ProgramLengths.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::nvidia {

/// Whether the kernel's programs may run one after another, or at the same time in one CTA: none waits for another, and
/// nothing tells a CTA from a program.
bool programsMayShareCtas(tt::FuncOp kernel);

/// The programs that a CTA runs. The launcher starts as many CTAs as run at once, in a grid of one dimension, and
/// passes the grid of programs (artifact/Artifact.h, `persistent`).
class ProgramLoop {
public:
  /// Adds the grid's extents to the kernel's arguments.
  ProgramLoop(tt::FuncOp kernel, LengthTrend trend);

  /// Creates a loop over the CTA's programs that carries `inits`.
  mlir::scf::ForOp create(mlir::OpBuilder &builder, mlir::ValueRange inits);
  /// Replaces the program's indices and the grid's extents in the loop's body.
  void useIndices(mlir::scf::ForOp loop, mlir::RewriterBase &rewriter);

private:
  using Indices = std::array<mlir::Value, 3>;
  Indices indicesOf(mlir::OpBuilder &builder, mlir::Value program);
  Indices indicesByLength(mlir::OpBuilder &builder, mlir::Value program);

  tt::FuncOp kernel;
  LengthTrend trend;
  llvm::SmallVector<mlir::Value, 3> extents;
  mlir::Value cta, ctas, total; ///< of the loop that was created last
};

} // namespace nereid::nvidia
