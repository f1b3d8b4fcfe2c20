// The phases from a module of `tt` ops to a shared object for a CPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The object holds one function named as the kernel,
//   extern "C" void kernel(const char *packed, const uint32_t grid[3], uint64_t begin, uint64_t end, char *arena);
// `packed` holds the parameters at naturally aligned offsets, then two scratch pointers. The call runs the programs of
// linear id [begin, end) in ascending order, id = x + grid[0] * (y + grid[1] * z). `arena` is memory of this thread,
// `arenaBytes` long and aligned to `artifact::kArenaAlign`; its first eight bytes are zero at the thread's first call
// of a launch. Later calls of the launch find it as the call before has left it, or with those bytes zero again. A
// phase reports a failure as a diagnostic at the op's location.
#pragma once

#include "artifact/Sanitizers.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/lowering/asm/AsmErrors.h"
#include "compiler/support/Options.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/cpu/codegen/Host.h"
#include "compiler/target/cpu/plan/LoopPlan.h"

#include "mlir/IR/BuiltinOps.h"

#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cpu {

/// The state that the phases of one kernel share; each fills in its results.
struct CpuKernel {
  CpuKernel(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target)
      : module(module), options(options), target(target) {}

  mlir::ModuleOp module;
  const support::Options &options;
  const support::TargetSpec &target;
  /// The text of a sanitizer's report at a location, with `{found}` for the finding. Null: the finding alone.
  std::function<std::string(mlir::Location, artifact::Sanitizer)> checkText;
  std::unique_ptr<llvm::TargetMachine> machine;
  CpuFeatures vectors;
  tt::FuncOp function; ///< the public function, which the others are inlined into; set by `makePlan`

  // makePlan
  /// Sees the plan after each of its steps, by the step's name. Null: none does.
  std::function<void(llvm::StringRef step, const LoopPlan &plan)> afterPlanStep;
  AffineInfo affineInfo;
  LoopPlan plan;
  // makeLlvm
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> llvmModule; ///< optimised
  std::vector<mlir::Location> asmLocations; ///< by LLVM's cookie less one
  lowering::AsmError asmError;
  // makeObject, makeShared
  std::vector<char> object;
  std::vector<char> sharedObject;
};

mlir::FailureOr<std::unique_ptr<CpuKernel>> beginKernel(mlir::ModuleOp module, const support::Options &options,
                                                        const support::TargetSpec &target);

//--- the phases, in order ---
/// Inlines calls, inserts checks and widens dots; then plans the module's one public function.
mlir::LogicalResult makePlan(CpuKernel &kernel);
/// The names of the steps that make the plan, in order.
std::vector<const char *> planStepNames();
mlir::LogicalResult makeLlvm(CpuKernel &kernel);
mlir::LogicalResult makeObject(CpuKernel &kernel);
mlir::LogicalResult makeShared(CpuKernel &kernel);

//--- their stages as text ---
std::string printPlan(CpuKernel &kernel); ///< completes the affine analysis of tiles on the way
std::string printLlvm(const CpuKernel &kernel);
mlir::FailureOr<std::string> printAssembly(const CpuKernel &kernel);

} // namespace nereid::cpu
