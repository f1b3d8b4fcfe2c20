// Plans the shared memory of a GPU kernel and prints the kernel and its plan: layouts of moved tiles, loop schedules,
// the shared-memory map, barriers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/SharedMemory.h"
#include "compiler/support/Diagnostic.h"

#include <string>

namespace nereid::lowering {

struct SharedMemoryLimit {
  llvm::StringRef gpu;
  uint64_t bytes = 0; ///< the most that a CTA or workgroup can have
  /// The error where they do not suffice; its arguments are the kernel, the bytes that it needs, those of the op at
  /// which it is reported, the GPU and its bytes.
  const support::DiagnosticKind &exceeded;
};

/// Plans shared memory, and reports the op that takes the most where the kernel needs more than the limit, so that no
/// launch can load it.
analysis::SharedMemoryPlan planSharedMemory(mlir::ModuleOp module, tt::FuncOp kernel, const SharedMemoryLimit &limit);

/// The `ttg` module as text with locations.
std::string printTtg(mlir::ModuleOp module);

/// The plan of a `ttg` module that is ready for emission.
std::string printPlan(mlir::ModuleOp module, const analysis::SharedMemoryPlan &shared);

} // namespace nereid::lowering
