// What the emitters of a kernel share: one emits scalars, others nests, dots, loops, calls into the host.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/BufferValues.h"
#include "compiler/target/cpu/emit/FunctionFrame.h"
#include "compiler/target/cpu/emit/LaneEmitter.h"
#include "compiler/target/cpu/emit/ScalarValues.h"
#include "compiler/target/cpu/plan/LoopPlan.h"

namespace nereid::cpu {

class ControlEmitter;
class HostCallEmitter;
class KeptOperandEmitter;
class PrefetchValues;
class Streaming;

/// The program that the code at the insert point runs for.
struct ProgramValues {
  llvm::Value *id[3] = {};
  llvm::Value *gridSize[3] = {};
  llvm::BasicBlock *done = nullptr; ///< branch target of a failed program
  unsigned loopDepth = 0;           ///< of the program's loops around the insert point
};

/// Owns nothing. Emitters insert at `ir`.
struct EmitContext {
  llvm::IRBuilder<> &ir;
  LaneEmitter &lanes;
  const LoopPlan &plan;
  AffineInfo &affineInfo;
  const CpuFeatures &machine;
  FunctionFrame &frame;
  ScalarValues &scalars;
  BufferValues &buffers;
  ProgramValues &program;
  KeptOperandEmitter &keptOperands;
  PrefetchValues &prefetches;
  Streaming &streaming;
  HostCallEmitter &host;
  ControlEmitter &control;
  /// The number of each op of the kernel, in program order, from 1.
  const llvm::DenseMap<mlir::Operation *, unsigned> &positions;

  /// The position of a value's definition; 0 for arguments.
  unsigned positionOf(mlir::Value value) const { return positions.lookup(value.getDefiningOp()); }
};

} // namespace nereid::cpu
