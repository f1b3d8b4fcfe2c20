// Builds the LoopPlan of a kernel in named steps that refine one another.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/LoopPlan.h"

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::cpu {

/// The state shared by the planning steps.
struct PlanContext {
  LoopPlan &plan;
  AffineInfo &affineInfo;
  CpuFeatures machine;
  RootTable rootTable;
  int64_t stagesOfDots;                                  ///< `num_stages` of the launch, for loops with dots
  llvm::DenseMap<mlir::Operation *, unsigned> positions; ///< program order, over the whole function
  unsigned nextNest = 0;
  llvm::DenseMap<mlir::Value, BufferId> operandOf{}; ///< copies of tiles for dots
  std::vector<Root> outerOperands{};                 ///< copies of operands to be made before the loop or branch

  BufferId newBuffer(mlir::Type element, llvm::ArrayRef<int64_t> shape, const char *purpose);
  BufferId newBuffer(mlir::Type tile, const char *purpose);
  std::unique_ptr<Nest> newNest(llvm::ArrayRef<int64_t> shape);
  /// A root that keeps the value in a new buffer.
  Root materialiseRoot(mlir::Value value, const char *purpose);
  /// A nest of one root, of its shape.
  Step nestStep(Root root);
  Step materialiseStep(mlir::Value value, const char *purpose) { return nestStep(materialiseRoot(value, purpose)); }
  /// A nest that has only this root of the step's nest: the step's own, or, where that has other roots, a new nest
  /// before it. `index` stays the index of the step.
  Nest &nestOfOnly(std::vector<Root>::iterator root, std::vector<Step> &steps, size_t &index);
};

/// Fuses roots into nests; the plan's body is complete after this, but hazards are not yet resolved.
mlir::FailureOr<Sequence> sequence(PlanContext &context, mlir::Block &block);
/// Keeps expensive values that several nests use.
void materialiseExpensive(PlanContext &context, Sequence &sequence);
/// Guards or keeps loads whose source a later store may overwrite.
void protectLoads(PlanContext &context, Sequence &sequence);
/// Has loads that are contiguous along another dimension than what is written transposed in registers.
void transposeLoads(PlanContext &context, Sequence &sequence);
/// Doubles buffers of carried tiles whose old value is read during or after their update.
void doubleBuffers(PlanContext &context, Sequence &sequence);
/// Makes the first iteration of a loop write carried tiles whose initial value is a constant.
void peelFirstIterations(PlanContext &context, Sequence &sequence);
/// Has threads keep copies of operands of dots, for following programs to reuse.
void reuseOperands(PlanContext &context, tt::FuncOp kernel);
/// Has dots of a loop wait for those of the next iterations.
void postponeDots(PlanContext &context, Sequence &sequence);
/// Chooses which dimension of buffers is innermost.
void chooseOrders(PlanContext &context, Sequence &sequence);
/// Chooses the vectorised dimension, its lanes and the order of loops of every nest.
void vectorise(PlanContext &context, Sequence &sequence);
/// Decides which versions each nest has.
void chooseVersions(PlanContext &context, Sequence &sequence);
/// Decides which tiles of the next iteration or program are prefetched, and where.
void planPrefetches(PlanContext &context, tt::FuncOp kernel);
/// Decides whether stores may bypass the caches.
void planStreaming(PlanContext &context, tt::FuncOp kernel);
/// Assigns each buffer an offset in the arena.
void allocateBuffers(PlanContext &context);

/// The part of a dot's result that is stored, known when the dot begins.
StoredPart storedPart(AffineInfo &affineInfo, tt::DotOp dot);
/// The buffer of a carried tile that a dot of the loop's body accumulates in; nullopt where the dot has its own buffer.
std::optional<BufferId> carriedAccumulator(const LoopPlan &plan, tt::DotOp dot);
/// Whether the dot's result has no use but as a carried tile of the loop's next iteration.
bool isOnlyCarried(tt::DotOp dot);

/// Whether a tile is better read along its second-to-last dimension than along its last.
bool isReadByColumns(PlanContext &context, mlir::Value tile);
/// The tile with its last two dimensions swapped; created after the tile if it does not exist yet.
mlir::Value transposed(mlir::Value tile);

/// One step of planning.
struct PlanStep {
  const char *name;
  mlir::LogicalResult (*run)(PlanContext &context, tt::FuncOp kernel);
};

/// All steps, in the order in which they run.
llvm::ArrayRef<PlanStep> planSteps();

/// Sees the plan after each step.
using PlanObserver = llvm::function_ref<void(const PlanStep &step, const LoopPlan &plan)>;

/// Runs all steps. In builds with assertions, the plan is verified after each.
mlir::FailureOr<LoopPlan> makePlan(tt::FuncOp kernel, AffineInfo &affineInfo, const CpuFeatures &machine,
                                   RootTable rootTable, int64_t stagesOfDots, PlanObserver afterStep = nullptr);

/// Visits the step and those inside its regions.
void forEachStep(const Step &step, llvm::function_ref<void(const Step &)> visit);
void forEachStep(Step &step, llvm::function_ref<void(Step &)> visit);
/// Visits the nests of a step, those inside its regions included.
void forEachNest(const Step &step, llvm::function_ref<void(Nest &)> visit);
/// The bytes from element to element along each dimension of a tile of pointers that is affine as a whole, since each
/// of its dimensions is one regular chunk; empty where it is not.
llvm::SmallVector<int64_t, 4> regularStrides(AffineInfo &affineInfo, mlir::Value pointer);
/// An operand whose elements an op's result holds, along one dimension at indices that another operand gives: it is
/// read from a buffer.
struct IndexedOperand {
  mlir::Value source;
  unsigned dim = 0;
  mlir::Value indices;
};
/// Nothing where the op, which may be null, has no such operand.
std::optional<IndexedOperand> indexedOperand(mlir::Operation *op);
/// Whether the kernel multiplies with the processor's tile registers.
bool usesTiles(const LoopPlan &plan);
/// Whether a tile of these extents has the nest's shape and the map is the identity on dimensions of extent above 1.
bool isIdentity(llvm::ArrayRef<int64_t> shape, const IndexMap &map, const Nest &nest);
/// Whether the nest reads the value from its buffer. A value that the nest itself keeps is computed instead, at any
/// index.
bool isRead(const LoopPlan &plan, const Nest &nest, mlir::Value value);
/// Whether the op is a hint to the compiler, or orders the threads of a program, which is one thread.
bool isHintOrBarrier(mlir::Operation *op);
/// The loads of tiles that the nest evaluates, each once; the load whose tile a root materialises comes before those of
/// its address.
llvm::SetVector<mlir::Operation *> loadsOf(const LoopPlan &plan, AffineInfo &affineInfo, const Nest &nest);

/// The extents that a root's nest iterates over.
llvm::ArrayRef<int64_t> shapeOfRoot(const Root &root);

} // namespace nereid::cpu
