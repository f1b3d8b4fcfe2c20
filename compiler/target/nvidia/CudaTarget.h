// Declares the phases from a module of `tt` ops to code for an NVIDIA GPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The code has one kernel of that name in the ABI `plain`: the parameters in order at their natural alignment, then a
// pointer to global scratch memory and one to profiling scratch memory; 32 * numWarps threads per CTA along x;
// `sharedBytes` of dynamic shared memory. A phase that fails reports a diagnostic at the op's location, or at the
// source line of the PTX that a tool rejects.
#pragma once

#include "compiler/analysis/SharedMemory.h"
#include "compiler/lowering/AsmErrors.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/lowering/StageOverrides.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/codegen/Codegen.h"
#include "compiler/target/nvidia/codegen/PtxAssembler.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::nvidia {

/// The state that the phases of one kernel share; each fills in its results.
struct CudaKernel {
  CudaKernel(const support::Options &options, Tools tools, Arch arch)
      : options(options), tools(std::move(tools)), arch(std::move(arch)) {}

  mlir::ModuleOp module; ///< `tt`, from `lowerToTtg` on `ttg`
  tt::FuncOp function;
  const support::Options &options;
  Tools tools;
  Arch arch;

  // planMemory
  analysis::SharedMemoryPlan shared;
  // makeLlvm; released after makePtx, since ptxas may take long
  std::optional<lowering::PooledTargetMachine> machine;
  lowering::AsmError asmError;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> llvmModule; ///< optimised
  uint32_t peakRegisters = 0;               ///< of the values of straight-line code; 0: unknown
  // makePtx
  std::string ptx;
  uint32_t residentCtas = 0; ///< required by the PTX (.minnctapersm); 0: ptxas chooses registers
  uint32_t safeCtas = 0;     ///< the same, with registers to spare: for the case that the other causes spills
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

/// Replaces the module that the kernel began with.
mlir::LogicalResult useModule(CudaKernel &kernel, mlir::ModuleOp module);

//--- the phases, in order ---
/// Assigns layouts, pipelines loops, allocates shared memory; a module that is `ttg` already is unchanged.
mlir::LogicalResult lowerToTtg(CudaKernel &kernel);
void planMemory(CudaKernel &kernel);
mlir::LogicalResult makeLlvm(CudaKernel &kernel);
mlir::LogicalResult makePtx(CudaKernel &kernel);
mlir::LogicalResult makeCubin(CudaKernel &kernel);

//--- stages as text ---
std::string printTtg(const CudaKernel &kernel);
std::string printPlan(const CudaKernel &kernel);
std::string printLlvm(const CudaKernel &kernel);

//--- stages that the user supplies ---
mlir::LogicalResult readLlvm(CudaKernel &kernel, const lowering::StageOverride &stageOverride);
mlir::LogicalResult readPtx(CudaKernel &kernel, const lowering::StageOverride &stageOverride);

} // namespace nereid::nvidia
