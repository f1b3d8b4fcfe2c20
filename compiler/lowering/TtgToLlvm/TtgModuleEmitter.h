// Emits LLVM IR for a module of `ttg`: its kernel and the functions that it calls.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/lowering/DebugInfo.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::lowering {

struct EmissionOptions {
  bool canFuse = true;       ///< whether products and sums may become fma
  unsigned maxRegisters = 0; ///< 0: no limit
};

/// What the functions of one module share while they are emitted.
struct TtgModuleEmitter {
  llvm::Module &module;
  TargetEmitter &target;
  const EmissionOptions &options;
  const analysis::SharedMemoryPlan &shared;
  index::AxisInfoAnalysis axes;
  DebugInfo debug;
  OpEmitters emitters{};
  unsigned numThreads = 0;                    ///< of a CTA
  llvm::GlobalVariable *sharedBase = nullptr; ///< null where no shared memory is used
  llvm::DenseMap<mlir::Operation *, llvm::Function *> functions{};
};

/// Fills `result`, whose triple and data layout are set, with the module's functions. The kernel has its parameters in
/// order, then two pointers to scratch memory; shared memory is the external array `nereid_shared`. Failures are
/// reported at the op.
mlir::LogicalResult emitModule(mlir::ModuleOp source, llvm::Module &result, TargetEmitter &target,
                               const analysis::SharedMemoryPlan &shared, const EmissionOptions &options);

} // namespace nereid::lowering
