// Explains a GPU kernel that is ready for emission: what its ops do for each line.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/explain/Explanation.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

namespace nereid::lowering {

/// The unit that an op keeps busy, and how long.
struct OpCost {
  explain::Unit unit = explain::Unit::None;
  uint64_t cycles = 0; ///< of one execution by all warps that run it; 0: no estimate
  std::string label;   ///< "dot", "exp2", "elementwise"
  uint64_t bytes = 0;  ///< moved to or from global memory
};

/// Whether an op is a load of a tile that is first used in the next iteration.
bool isPrefetchedLoad(mlir::Operation *op);

/// The role that runs an op: its index in the explanation's.
unsigned roleOf(mlir::Operation *op);

/// "64x32xf16", of a tile or a buffer.
std::string tileText(mlir::Value value);

/// How many tiles the buffer has room for that `view` is one of.
int64_t numBuffers(mlir::Value view);

/// Adds findings for each op of the module. A target adds what only it has, and costs where it knows rates.
class Explainer {
public:
  Explainer(mlir::ModuleOp module, const analysis::SharedMemoryPlan &shared, const index::AxisInfoAnalysis &axes,
            explain::Explanation &explanation)
      : module(module), shared(shared), axes(axes), explanation(explanation) {}
  virtual ~Explainer() = default;

  void run();

protected:
  virtual OpCost costOf(mlir::Operation *) const { return {}; }
  /// How a dot is computed, as in "by mma.sync, operands from registers", and the reason for no faster form; it may be
  /// empty.
  virtual std::pair<std::string, std::string> describeDot(tt::DotOpInterface dot) const = 0;
  /// The target's name for an asynchronous copy by threads.
  virtual llvm::StringRef asyncCopyName() const { return "cp.async"; }
  /// Adds an op of the target's own; false for other ops.
  virtual bool addOwn(mlir::Operation *) { return false; }
  /// Whether an op waits for what other warps load.
  virtual bool waitsForOtherWarps(mlir::Operation *) const { return false; }

  void add(mlir::Operation *op, llvm::StringRef kind, std::string text, std::string reason = "");

private:
  void addRoles(tt::FuncOp function);
  void visit(mlir::Operation *op);
  void addAccess(const analysis::MemoryAccess &access);
  void addConversion(ttg::ConvertLayoutOp op);
  void addLoop(mlir::scf::ForOp loop);
  void addArithmetic(mlir::Operation *op);
  void addArithmeticFindings();
  void addBarriers(tt::FuncOp function);
  std::string narrowReason(const analysis::MemoryAccess &access, unsigned elems) const;

  mlir::ModuleOp module;
  const analysis::SharedMemoryPlan &shared;
  const index::AxisInfoAnalysis &axes;
  explain::Explanation &explanation;
  /// Cycles of elementwise ops by line and unit, of each basic block on its own: copies before and after a loop repeat.
  llvm::MapVector<std::pair<unsigned, unsigned>, llvm::MapVector<mlir::Block *, OpCost>> arithmetic;
  llvm::DenseMap<unsigned, std::string> fileOf; ///< by line of `arithmetic`
};

} // namespace nereid::lowering
