// The bounds of a loop that runs at run time.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/sema/Value.h"

#include "mlir/IR/Builders.h"

namespace nereid::sema {

/// The bounds of an scf.for, and how its index gives the loop's variable. They are the range's own where the step is
/// positive. Otherwise the loop counts its iterations, `for k in 0 .. count`, and the variable is first + k * stride:
/// an scf.for has neither a negative step nor one whose sign it does not know.
struct LoopBounds {
  mlir::Value lower, upper, step;
  Scalar type = Scalar::Int32; ///< of the variable
  bool comparesUnsigned = false;
  mlir::Value first, stride; ///< of a loop that counts its iterations, else null

  /// The variable before the first iteration.
  mlir::Value start() const { return first ? first : lower; }
  /// The variable in the iteration of this index.
  mlir::Value variable(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value index) const;
  /// The index of the last iteration of a loop that is not left early, and whether the loop runs at all.
  std::pair<mlir::Value, mlir::Value> lastIndex(mlir::OpBuilder &builder, mlir::Location loc) const;
};

} // namespace nereid::sema
