// Declares the phases from a module of `tt` ops to code for an AMD GPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The code has one kernel of that name in the ABI `plain`: the parameters in order at their natural alignment, then a
// pointer to global scratch memory and one to profiling scratch memory; numWarps waves per workgroup along x;
// `sharedBytes` of dynamic LDS.
#pragma once

#include "compiler/analysis/SharedMemory.h"
#include "compiler/lowering/AsmErrors.h"
#include "compiler/lowering/Kernel.h"
#include "compiler/lowering/StageOverrides.h"
#include "compiler/lowering/TargetMachinePool.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/amd/arch/Archs.h"
#include "compiler/target/amd/codegen/Codegen.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::amd {

/// The state that the phases of one kernel share; each fills in its results.
struct HipKernel {
  HipKernel(const support::Options &options, Arch arch) : options(options), arch(arch) {}

  mlir::ModuleOp module; ///< `tt`, from `lowerToTtg` on `ttg`
  tt::FuncOp function;
  const support::Options &options;
  Arch arch;

  // planMemory
  analysis::SharedMemoryPlan shared;
  // makeLlvm
  std::optional<lowering::PooledTargetMachine> machine;
  lowering::AsmError asmError;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> llvmModule; ///< optimised
  std::string simulated;                    ///< the text for the simulated GPU, where the target asks for it
  // makeAssembly
  std::string assembly;
  // makeHsaco
  std::vector<char> hsaco;

  uint32_t threadsPerBlock() const;
};

/// Checks that the target supports the module's one public function; returns the kernel before its first phase.
mlir::FailureOr<std::unique_ptr<HipKernel>> beginKernel(mlir::ModuleOp module, const support::Options &options,
                                                        const support::TargetSpec &target);

/// Replaces the module that the kernel began with.
mlir::LogicalResult useModule(HipKernel &kernel, mlir::ModuleOp module);

//--- the phases, in order ---
/// Assigns layouts, pipelines loops, allocates shared memory; a module that is `ttg` already is unchanged.
mlir::LogicalResult lowerToTtg(HipKernel &kernel);
void planMemory(HipKernel &kernel);
mlir::LogicalResult makeLlvm(HipKernel &kernel);
mlir::LogicalResult makeAssembly(HipKernel &kernel);
mlir::LogicalResult makeHsaco(HipKernel &kernel);

//--- stages as text ---
std::string printTtg(const HipKernel &kernel);
std::string printPlan(const HipKernel &kernel);
std::string printLlvm(const HipKernel &kernel);

//--- stages that the user supplies ---
mlir::LogicalResult readLlvm(HipKernel &kernel, const lowering::StageOverride &stageOverride);
mlir::LogicalResult readAssembly(HipKernel &kernel, const lowering::StageOverride &stageOverride);

} // namespace nereid::amd
