// Declares the phases from a module of `tt` ops to code for an NVIDIA GPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The code has one kernel of that name in the ABI `plain`: the parameters in order at their natural alignment, then a
// pointer to global scratch memory and one to profiling scratch memory; 32 * numWarps threads per CTA along x;
// `sharedBytes` of dynamic shared memory. A phase that fails reports a diagnostic at the op's location, or at the
// source line of the PTX that a tool rejects.
#pragma once

#include "compiler/lowering/gpu/GpuKernel.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/codegen/Codegen.h"
#include "compiler/target/nvidia/codegen/PtxAssembler.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nereid::nvidia {

/// The state that the phases of one kernel share; each fills in its results.
/// `machine` and the LLVM IR are released after makePtx, since ptxas may take long.
struct CudaKernel : lowering::GpuKernel {
  CudaKernel(const support::Options &options, Tools tools, Arch arch)
      : GpuKernel(options), tools(std::move(tools)), arch(std::move(arch)) {}

  Tools tools;
  Arch arch;
  bool takesTensorMaps = false; ///< the host passes its descriptors as tensor maps

  // makeLlvm
  uint32_t peakRegisters = 0; ///< of the values of straight-line code; 0: unknown
  bool isExcessive = false;   ///< values take a multiple of a thread's registers
  // makePtx
  std::string ptx;
  uint32_t residentCtas = 0; ///< required by the PTX (.minnctapersm); 0: ptxas chooses registers
  uint32_t safeCtas = 0;     ///< as `residentCtas`, with registers to spare: where that causes spills
  bool runsOnce = false;     ///< each instruction runs once: the kernel has no loops and no dots
  // makeCubin
  bool isPtxReproducible = true; ///< false: the PTX depends on results of ptxas
  Assembled assembled;

  uint32_t threadsPerBlock() const;
  /// Whether its warps do different work: their registers are set for one CTA per multiprocessor.
  bool isSpecialized() const;
};

/// Checks that the target supports the module's one public function; returns the kernel before its first phase.
mlir::FailureOr<std::unique_ptr<CudaKernel>> beginKernel(mlir::ModuleOp module, const support::Options &options,
                                                         const support::TargetSpec &target, const Tools &tools);

//--- the phases, in order ---
/// Assigns layouts, pipelines loops, allocates shared memory; in a module that is `ttg` already, the user has.
mlir::LogicalResult lowerToTtg(CudaKernel &kernel);
void planMemory(CudaKernel &kernel);
mlir::LogicalResult makeLlvm(CudaKernel &kernel);
mlir::LogicalResult makePtx(CudaKernel &kernel);
mlir::LogicalResult makeCubin(CudaKernel &kernel);

//--- stages that the user supplies ---
mlir::LogicalResult readLlvm(CudaKernel &kernel, const lowering::StageOverride &stageOverride);
mlir::LogicalResult readPtx(CudaKernel &kernel, const lowering::StageOverride &stageOverride);

} // namespace nereid::nvidia
