// Estimates how long TMA, tensor cores and the other units of a multiprocessor are busy with an op.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/gpu/OpCosts.h"
#include "compiler/target/nvidia/arch/Archs.h"

namespace nereid::nvidia {

using lowering::OpCost;

class OpCosts final : public lowering::OpCosts {
public:
  OpCosts(mlir::ModuleOp module, const Arch &arch)
      : lowering::OpCosts(module, {arch.globalBytes, arch.fma, arch.special, /*warpThreads=*/32}), arch(arch) {}

  bool isAsync(mlir::Operation *op) const override;

private:
  OpCost ofDot(tt::DotOpInterface dot) const override;
  std::optional<OpCost> ofOwn(mlir::Operation *op) const override;
  OpCost ofTmaCopy(ttg::MemDescType tile, llvm::StringRef label) const;

  const Arch arch;
};

} // namespace nereid::nvidia
