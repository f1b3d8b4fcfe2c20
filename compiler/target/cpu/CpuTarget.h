// The phases from a module of `tt` ops to a shared object for a CPU; the driver runs them in order.
// SPDX-License-Identifier: MIT
//
// The object holds one function named as the kernel,
//   extern "C" void kernel(const char *packed, const uint32_t grid[3], uint64_t begin, uint64_t end, char *arena);
// `packed` holds the parameters at naturally aligned offsets, then two scratch
// pointers. The call runs the programs of linear id [begin, end) in ascending
// order, id = x + grid[0] * (y + grid[1] * z). `arena` is memory of this thread,
// `arenaBytes` long and aligned to `kArenaAlign`. A failure of a phase is a diagnostic at the op's location.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/support/Options.h"
#include "compiler/support/Sanitizers.h"
#include "compiler/support/TargetSpec.h"
#include "compiler/target/cpu/LoopPlan.h"

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

inline constexpr uint32_t kArenaAlign = 64;

/// What the phases of one kernel hand on; each fills in what it makes.
struct CpuKernel {
  CpuKernel(mlir::ModuleOp module, const support::Options &options, const support::TargetSpec &target)
      : module(module), options(options), target(target) {}

  mlir::ModuleOp module;
  const support::Options &options;
  const support::TargetSpec &target;
  /// The text of the report of a check for that sanitizer at a location, with `{found}` for what is found. Null: that
  /// alone.
  std::function<std::string(mlir::Location, support::Sanitizer)> checkText;
  std::unique_ptr<llvm::TargetMachine> machine;
  CpuFeatures vectors;
  tt::FuncOp function; ///< of several functions, which become part of it, known from `makePlan` on

  // makePlan
  AffineInfo affineInfo;
  LoopPlan plan;
  // makeLlvm
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> llvmModule; ///< optimised
  std::vector<mlir::Location> asmLocations; ///< by LLVM's cookie less one
  std::string asmError;                     ///< what code generation says of a kernel's assembly
  std::optional<uint64_t> asmCookie;
  // makeObject, makeShared
  std::vector<char> object;
  std::vector<char> sharedObject;
};

mlir::FailureOr<std::unique_ptr<CpuKernel>> beginKernel(mlir::ModuleOp module, const support::Options &options,
                                                        const support::TargetSpec &target);

//--- the phases, in order ---
/// Calls inlined, checks inserted, dots widened; then the plan of the module's one public function.
mlir::LogicalResult makePlan(CpuKernel &kernel);
mlir::LogicalResult makeLlvm(CpuKernel &kernel);
mlir::LogicalResult makeObject(CpuKernel &kernel);
mlir::LogicalResult makeShared(CpuKernel &kernel);

//--- their stages as text ---
std::string printPlan(CpuKernel &kernel); ///< the facts about tiles are completed on the way
std::string printLlvm(const CpuKernel &kernel);
mlir::FailureOr<std::string> printAssembly(const CpuKernel &kernel);

/// This host, every name resolved.
support::TargetSpec hostTarget();
/// The LLVM CPU `arch` with the features that it always has; nothing, and the
/// reason, for an unknown name.
std::optional<support::TargetSpec> namedTarget(const std::string &arch, std::string &reason);

} // namespace nereid::cpu
