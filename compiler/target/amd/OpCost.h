// Estimates how long the units of a compute unit are busy with an op.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/gpu/OpCosts.h"
#include "compiler/target/amd/arch/Archs.h"

namespace nereid::amd {

class OpCosts final : public lowering::OpCosts {
public:
  OpCosts(mlir::ModuleOp module, const Arch &arch)
      : lowering::OpCosts(module, {arch.globalBytes, arch.fma, arch.special, arch.waveSize}), arch(arch) {}

private:
  lowering::OpCost ofDot(tt::DotOpInterface dot) const override;

  const Arch arch;
};

} // namespace nereid::amd
