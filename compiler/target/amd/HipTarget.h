// Declares the phases from a module of `tt` ops to code for an AMD GPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The code has one kernel of that name in the ABI `plain`: the parameters in order at their natural alignment, then a
// pointer to global scratch memory and one to profiling scratch memory; numWarps waves per workgroup along x;
// `sharedBytes` of dynamic LDS.
#pragma once

#include "compiler/lowering/gpu/GpuKernel.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/amd/arch/Archs.h"
#include "compiler/target/amd/codegen/Codegen.h"

#include <memory>
#include <string>
#include <vector>

namespace nereid::amd {

/// The state that the phases of one kernel share; each fills in its results.
struct HipKernel : lowering::GpuKernel {
  HipKernel(const support::Options &options, Arch arch) : GpuKernel(options), arch(arch) {}

  Arch arch;

  // makeLlvm
  std::string simulated; ///< the text for the simulated GPU, where the target asks for it
  // makeAssembly
  std::string assembly;
  // makeHsaco
  std::vector<char> hsaco;

  uint32_t threadsPerBlock() const;
};

/// Checks that the target supports the module's one public function; returns the kernel before its first phase.
mlir::FailureOr<std::unique_ptr<HipKernel>> beginKernel(mlir::ModuleOp module, const support::Options &options,
                                                        const support::TargetSpec &target);

/// Replaces the module that the kernel began with, or begins with it.
mlir::LogicalResult useModule(HipKernel &kernel, mlir::ModuleOp module);

//--- the phases, in order ---
/// Assigns layouts, pipelines loops, allocates shared memory; a module that is `ttg` already is unchanged.
mlir::LogicalResult lowerToTtg(HipKernel &kernel);
void planMemory(HipKernel &kernel);
mlir::LogicalResult makeLlvm(HipKernel &kernel);
mlir::LogicalResult makeAssembly(HipKernel &kernel);
mlir::LogicalResult makeHsaco(HipKernel &kernel);

//--- stages that the user supplies ---
mlir::LogicalResult readLlvm(HipKernel &kernel, const lowering::StageOverride &stageOverride);
mlir::LogicalResult readAssembly(HipKernel &kernel, const lowering::StageOverride &stageOverride);

} // namespace nereid::amd
