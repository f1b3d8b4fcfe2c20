// Estimates which unit of a multiprocessor an op of `ttg` keeps busy, and how long.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/lowering/gpu/Explainer.h"
#include "compiler/target/nvidia/arch/Archs.h"

namespace nereid::nvidia {

using lowering::OpCost;

/// Costs of the ops of a module that is ready for emission.
class OpCosts {
public:
  OpCosts(mlir::ModuleOp module, const Arch &arch) : arch(arch), axes(module) {}

  OpCost of(mlir::Operation *op) const;
  const index::AxisInfoAnalysis &axisInfo() const { return axes; }

private:
  OpCost ofAccess(const analysis::MemoryAccess &access) const;
  OpCost ofDot(tt::DotOpInterface dot) const;
  OpCost ofTmaCopy(ttg::MemDescType tile, llvm::StringRef label) const;

  const Arch arch;
  const index::AxisInfoAnalysis axes;
};

} // namespace nereid::nvidia
