// From a module of `tt` ops to a shared object for a CPU: the target's one entry.
// SPDX-License-Identifier: MIT
//
// The object holds one function named as the kernel,
//   extern "C" void kernel(const char *packed, const uint32_t grid[3], uint64_t begin, uint64_t end, char *arena);
// `packed` holds the parameters at naturally aligned offsets, then two scratch
// pointers. The call runs the programs of linear id [begin, end) in ascending
// order, id = x + grid[0] * (y + grid[1] * z). `arena` is memory of this thread,
// `arenaBytes` long and aligned to `arenaAlign`.
#pragma once

#include "compiler/lowering/Kernel.h"
#include "compiler/support/Options.h"
#include "compiler/support/Sanitizers.h"
#include "compiler/support/TargetSpec.h"

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nereid::cpu {

/// Which texts to make besides the binary; each costs time.
struct Emit {
  bool plan = false;
  bool llir = false;
  bool assembly = false;
  /// The text of the report of a check for that sanitizer at a place, with `{found}` for what is found. Null: that alone.
  std::function<std::string(mlir::Location, support::Sanitizer)> checkText = nullptr;
};

struct CpuCode {
  std::string plan;     ///< the LoopPlan, readable
  std::string llir;     ///< LLVM IR, optimised
  std::string assembly;
  std::vector<char> object;
  std::vector<char> sharedObject;
  uint64_t arenaBytes = 0;
  uint32_t arenaAlign = 64;
  std::vector<lowering::Param> params; ///< the scratch pointers excluded
};

/// Compiles the module's one public function, whose calls are inlined and whose
/// control flow is scf. A failure is a diagnostic at the op's location.
mlir::FailureOr<CpuCode> compile(mlir::ModuleOp module, const support::Options &options,
                                 const support::TargetSpec &target, const Emit &emit);

/// This host, every name resolved.
support::TargetSpec hostTarget();
/// The LLVM CPU `arch` with the features that it always has; nothing, and the
/// reason, for an unknown name.
std::optional<support::TargetSpec> namedTarget(const std::string &arch, std::string &whyNot);

} // namespace nereid::cpu
