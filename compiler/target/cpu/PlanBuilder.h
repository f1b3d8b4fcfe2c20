// Makes the LoopPlan of a kernel, in five steps that refine one another.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/LoopPlan.h"

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::cpu {

/// What the steps of planning share.
struct PlanContext {
  LoopPlan &plan;
  AffineInfo &affineInfo;
  CpuFeatures machine;
  llvm::DenseMap<mlir::Operation *, unsigned> positions; ///< program order, over the whole function
  unsigned nextNest = 0;
  llvm::DenseMap<mlir::Value, BufferId> operandOf{}; ///< copies of tiles for products
  std::vector<Root> outerOperands{};                 ///< those to be made before the loop or branch

  BufferId newBuffer(mlir::Type element, llvm::ArrayRef<int64_t> shape, const char *purpose);
  BufferId newBuffer(mlir::Type tile, const char *purpose);
  std::unique_ptr<Nest> newNest(llvm::ArrayRef<int64_t> shape);
  /// A nest that only keeps `value`, in a buffer made here.
  Step materialiseStep(mlir::Value value, const char *purpose);
};

/// Fuses roots into nests; the plan's body is complete after this, though not yet right.
mlir::FailureOr<Sequence> sequence(PlanContext &context, mlir::Block &block);
/// Keeps costly values that several nests use.
void materialiseExpensive(PlanContext &context, Sequence &sequence);
/// Guards or keeps loads that a later store may overwrite, and doubles buffers of carried tiles.
void protectLoads(PlanContext &context, Sequence &sequence);
void doubleBuffers(PlanContext &context, Sequence &sequence);
/// Lets the first turn of a loop write carried tiles whose first value is a constant.
void peelFirstIterations(PlanContext &context, Sequence &sequence);
/// Chooses the vectorised dimension, its lanes and the order of loops of every nest.
void vectorise(PlanContext &context, Sequence &sequence);
/// Gives each buffer its place in the arena.
void allocateBuffers(PlanContext &context);

/// The buffer of a carried tile that a product of the loop's body is summed up in; nothing where it has one of its own.
std::optional<BufferId> carriedAccumulator(const LoopPlan &plan, tt::DotOp dot);

/// Whether a tile is better read along its last dimension but one than along its last.
bool isReadByColumns(PlanContext &context, mlir::Value tile);
/// The tile with its last two dimensions swapped; made behind the tile where it is not there yet.
mlir::Value transposed(mlir::Value tile);

/// All of the above.
mlir::FailureOr<LoopPlan> makePlan(tt::FuncOp kernel, AffineInfo &affineInfo, const CpuFeatures &machine);

/// The step and those inside its regions.
void forEachStep(const Step &step, llvm::function_ref<void(const Step &)> visit);
/// The nests of a step, those inside its regions included.
void forEachNest(const Step &step, llvm::function_ref<void(Nest &)> visit);
/// A tile of these extents has the nest's shape and the map is the identity where it matters.
bool isIdentity(llvm::ArrayRef<int64_t> shape, const IndexMap &map, const Nest &nest);
/// Whether the nest reads the value from its buffer. What it keeps itself it computes, at whatever index it is used.
bool isRead(const LoopPlan &plan, const Nest &nest, mlir::Value value);
/// The extents that a root's nest iterates over.
llvm::ArrayRef<int64_t> shapeOfRoot(const Root &root);

} // namespace nereid::cpu
