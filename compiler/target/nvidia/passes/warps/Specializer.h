// Moves the loads of loops of chained dots to warps of their own: the state of the pass.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/analysis/PointerBases.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/warps/ProducerWarps.h"
#include "compiler/target/nvidia/passes/warps/ProgramLoop.h"
#include "compiler/target/nvidia/passes/warps/SpecialLoops.h"

namespace nereid::nvidia {

/// The warps that load: one warp group, since registers are moved between warp groups, and since an SM gives each
/// quarter of its registers to whole warps. TMA needs one thread of them.
inline constexpr int32_t kProducerWarps = 4;

/// The multi-buffered allocation of all loops' channels of one index, or of a tile that is loaded once for all loops.
struct MultiBuffer {
  ttg::MemDescType buffer; ///< of one tile
  mlir::Value buffers, full, empty;
};

/// A position in all multi-buffered allocations: the buffer that is used next, and the parity of its phase.
struct Position {
  mlir::Value stage, parity;
};

class Specializer {
public:
  Specializer(tt::FuncOp function, const SpecializeWarpsOptions &options)
      : function(function), rewriter(function.getContext()), options(options) {}

  bool collect();
  bool joinLoops();
  void run();

private:
  bool addLoop(mlir::scf::ForOp loop, const index::AxisInfoAnalysis &axisInfo);
  bool addOnce(mlir::Operation *load);
  bool mayMove(Channel channel, const std::optional<analysis::Bases> &written);
  bool fits();
  bool usesTma() const { return bool(loops.front().channels.front().tile()); }
  MultiBuffer createMultiBuffer(Channel channel, unsigned count);
  void createMultiBuffers();
  void fill(mlir::OpBuilder &builder, const Channel &channel, const MultiBuffer &multiBuffer, Position at,
            const mlir::IRMapping &values);
  mlir::scf::ForOp beginPrograms(mlir::OpBuilder &builder, Position &at);
  void endPrograms(mlir::scf::ForOp loop, mlir::OpBuilder &builder, Position at);
  void buildProducer(mlir::Block &partition);
  void buildConsumers(mlir::Block &region, llvm::ArrayRef<mlir::Operation *> work);
  void consume(SpecialLoop &special, Position &at);
  BufferAccess useMultiBuffer(const MultiBuffer &multiBuffer, Channel &channel, Position at);
  mlir::Operation *release(const MultiBuffer &multiBuffer, mlir::Location loc, mlir::Value stage,
                           mlir::Value condition);
  mlir::Value before(mlir::Location loc, mlir::Value stage);
  Position next(mlir::OpBuilder &builder, mlir::Location loc, Position at);
  Position positionOfOnce(mlir::OpBuilder &builder, mlir::scf::ForOp ofPrograms, unsigned ahead);
  mlir::Value constant(mlir::OpBuilder &builder, int64_t number) {
    return mlir::arith::ConstantIntOp::create(builder, function.getLoc(), number, 32);
  }

  tt::FuncOp function;
  mlir::IRRewriter rewriter;
  const SpecializeWarpsOptions &options;
  llvm::SmallVector<SpecialLoop, 2> loops;
  llvm::SmallVector<Channel, 1> once; ///< whole tiles that are loaded before the loops, for their dots alone
  llvm::SmallVector<MultiBuffer, 2> multiBuffers, multiBuffersOfOnce;
  ProducerWarps producer{kProducerWarps};
  std::optional<ProgramLoop> programs; ///< where CTAs stay
  unsigned askedBuffers = 0, numBuffers = 0;
  unsigned buffersOfOnce = 1; ///< of each tile that is loaded once
  mlir::scf::ForOp deepest;   ///< the loop that asks for the most buffers
};

} // namespace nereid::nvidia
