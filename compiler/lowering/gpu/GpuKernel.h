// Declares the state of a GPU kernel between the phases of its compilation, as far as all GPU targets share it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"
#include "compiler/lowering/asm/AsmErrors.h"
#include "compiler/lowering/llvm/StageOverrides.h"
#include "compiler/lowering/llvm/TargetMachinePool.h"
#include "compiler/support/Diagnostic.h"
#include "compiler/support/Options.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <memory>
#include <optional>
#include <string>

namespace nereid::lowering {

/// A target's own kernel derives from it; each phase fills in its results.
struct GpuKernel {
  explicit GpuKernel(const support::Options &options) : options(options) {}

  mlir::ModuleOp module; ///< `tt`, from the first phase on `ttg`
  tt::FuncOp function;
  const support::Options &options;

  // the phase "plan"
  analysis::SharedMemoryPlan shared;
  // the phase "llir"
  std::optional<PooledTargetMachine> machine;
  AsmError asmError;
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> llvmModule; ///< optimised
  std::string replacedBy; ///< path of the user's LLVM IR or assembly that this kernel's is; empty: generated
};

/// Replaces the module that the kernel began with, or begins with it.
mlir::LogicalResult useModule(GpuKernel &kernel, mlir::ModuleOp module);

/// Takes a code generator, or reports why there is none; makes the context for LLVM IR.
mlir::LogicalResult useMachine(GpuKernel &kernel, llvm::Expected<PooledTargetMachine> machine);

/// An empty module for the kernel's code generator.
std::unique_ptr<llvm::Module> newLlvmModule(const GpuKernel &kernel);

/// Reports what prevented linking with function libraries. A file that cannot be linked is the user's own, of which
/// `ofFile` tells name and reason; another error is our library's.
mlir::LogicalResult checkLinked(const GpuKernel &kernel, llvm::Error error, const support::DiagnosticKind &ofFile);

/// Replaces the LLVM IR by the user's, for the kernel's code generator.
mlir::LogicalResult readLlvm(GpuKernel &kernel, const StageOverride &stageOverride);

//--- stages as text ---
std::string printTtg(const GpuKernel &kernel);
std::string printPlan(const GpuKernel &kernel);
std::string printLlvm(const GpuKernel &kernel);

} // namespace nereid::lowering
