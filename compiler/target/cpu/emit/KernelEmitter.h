// Emits a kernel's LLVM function from its plan: the program loop, scalars, the steps of the plan.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/support/Options.h"
#include "compiler/target/cpu/emit/ControlEmitter.h"
#include "compiler/target/cpu/emit/EmitContext.h"
#include "compiler/target/cpu/emit/HostCallEmitter.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/emit/Streaming.h"

namespace nereid::cpu {

class KernelEmitter {
public:
  KernelEmitter(llvm::Module &module, tt::FuncOp kernel, const LoopPlan &plan, AffineInfo &affineInfo,
                const CpuFeatures &machine, const support::Options &options);

  mlir::LogicalResult run();

  /// The text of a check's report, with `{found}` for the finding.
  void setCheckText(std::function<std::string(check::ValuesOp)> text) { host.checkText = std::move(text); }
  /// Locations of inline assembly, indexed by LLVM's cookie less one.
  std::vector<mlir::Location> takeAsmLocations() { return std::move(lanes.asmLocations); }

private:
  void loadParameters();
  mlir::LogicalResult emitPrograms();
  mlir::LogicalResult emitSequence(const Sequence &sequence);
  mlir::LogicalResult emitStep(const Step &step);
  mlir::LogicalResult emitScalar(mlir::Operation *op);
  mlir::LogicalResult emitStraight(mlir::Operation *op);
  mlir::LogicalResult emitScalarMemory(mlir::Operation *op);
  void emitScalarAtomic(tt::MemoryAccessOpInterface op);

  tt::FuncOp kernel;
  llvm::IRBuilder<> ir;
  LaneEmitter lanes;
  FunctionFrame frame;
  ScalarValues scalars;
  BufferValues buffers;
  ProgramValues program;
  llvm::DenseMap<mlir::Operation *, unsigned> positions;
  EmitContext context; ///< refers to all of these and to what follows
  KeptOperandEmitter keptOperands;
  PrefetchValues prefetches;
  Streaming streaming;
  HostCallEmitter host;
  ControlEmitter control;
};

} // namespace nereid::cpu
