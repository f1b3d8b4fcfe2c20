// Interprets integer tile IR element by element, to check the claims of analyses.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/DenseMap.h"

#include <functional>
#include <vector>

namespace nereid::test {

/// A tile's elements in row-major order; a scalar has one.
using Elements = std::vector<int64_t>;

class TileInterpreter {
public:
  /// Called with each value that an op, or a loop's next iteration, defines.
  using Observer = std::function<void(mlir::Value, const Elements &)>;

  explicit TileInterpreter(Observer observer) : observer(std::move(observer)) {}

  /// False where a value exceeds 31 bits or is divided by zero: such programs are not checked.
  bool run(tt::FuncOp function, llvm::ArrayRef<int64_t> arguments);

private:
  bool runBlock(mlir::Block &block);
  bool runFor(mlir::scf::ForOp loop);
  bool runOp(mlir::Operation &op);
  bool define(mlir::Value value, Elements elements);
  bool elementwise(mlir::Operation &op);

  Observer observer;
  llvm::DenseMap<mlir::Value, Elements> values;
};

} // namespace nereid::test
