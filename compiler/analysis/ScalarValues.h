// Evaluates scalars of a kernel for one program of a launch, as far as they follow from its arguments.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"

#include <array>
#include <optional>

namespace nereid::analysis {

class ScalarValues {
public:
  ScalarValues(std::array<int64_t, 3> program, std::array<int64_t, 3> grid) : program(program), grid(grid) {}

  /// The value of an argument of the kernel.
  void set(mlir::Value argument, int64_t value) { known[argument] = value; }

  /// Nothing where it depends on memory. The induction variable of a loop counts as its middle value.
  std::optional<int64_t> of(mlir::Value value);

  /// How often the loop's body runs. An unknown extent counts as a typical one.
  double tripCount(mlir::scf::ForOp loop);
  /// How often the condition is computed.
  double tripCount(mlir::scf::WhileOp loop);

private:
  /// For values inside of `loop`; those outside are `outer`'s.
  ScalarValues(ScalarValues &outer, mlir::Operation *loop)
      : program(outer.program), grid(outer.grid), outer(&outer), loop(loop) {}
  std::optional<int64_t> evaluate(mlir::Value value);
  std::optional<int64_t> evaluateArgument(mlir::BlockArgument argument);
  std::optional<int64_t> evaluateOp(mlir::Operation *op);
  std::optional<int64_t> evaluateBranch(mlir::scf::IfOp branch, unsigned result);

  const std::array<int64_t, 3> program, grid;
  ScalarValues *const outer = nullptr;
  mlir::Operation *const loop = nullptr;
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
  unsigned depth = 0;
};

} // namespace nereid::analysis
