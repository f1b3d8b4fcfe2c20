// Keeps left operands of dots that a loop does not change in registers, where shared memory limits the dots.
//
//   %k = local_alloc %tile; for { dot(%k, ..) }   ->   %k = local_alloc %tile; %r = local_load %k; for { dot(%r, ..) }
//
// An instruction with both operands in shared memory reads 2 KiB of the left one, and 32 bytes of the right one for
// each of its columns (docs/why/warp-groups.md).
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_KEEPOPERANDS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// Columns of an instruction up to which tensor cores wait for shared memory: its 16 cycles for the left operand and a
/// quarter of a cycle for each column are not less than half a cycle of arithmetic for each column.
static constexpr unsigned kMostColumns = 64;

namespace {
class Keeper {
public:
  explicit Keeper(tt::FuncOp function) : function(function), builder(function.getContext()) {}

  unsigned run();

private:
  unsigned keepIn(scf::ForOp loop);
  Value inRegisters(LocalAllocOp allocation, RankedTensorType type, scf::ForOp loop);

  tt::FuncOp function;
  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, Type>, Value> loaded; ///< by buffer and type
};
} // namespace

/// The tile's buffer where the dot should have its left operand in registers; null otherwise.
static LocalAllocOp invariantLeft(ttng::WarpGroupDotOp dot, scf::ForOp loop) {
  auto mma = cast<NvidiaMmaAttr>(encodingOf(dot.getD().getType()));
  auto left = dyn_cast<MemDescType>(dot.getA().getType());
  if (!left || left.getElementType().getIntOrFloatBitWidth() != 16 || mma.getInstrShape()[1] > kMostColumns)
    return {};
  auto allocation = dot.getA().getDefiningOp<LocalAllocOp>();
  return allocation && allocation.getSrc() && loop.isDefinedOutsideOfLoop(dot.getA()) ? allocation : LocalAllocOp();
}

/// Whether the loop's code has no branches. ptxas 13.0 may give other values the registers of a wgmma's left operand
/// where threads diverge in the loop, as at the start of a TMA copy, though the next iteration reads it.
static bool hasNoBranches(scf::ForOp loop) {
  return llvm::all_of(loop.getBody()->without_terminator(), [](Operation &op) {
    if (isa<ttng::WarpGroupDotOp, LocalAllocOp, ttng::FenceAsyncSharedOp, tt::LoadOp, math::Exp2Op, math::ExpOp>(op))
      return true;
    const bool mayBranch = isa<AsyncTileLoad>(op) || isa<math::MathDialect>(op.getDialect());
    return !mayBranch && op.getNumRegions() == 0 && isMemoryEffectFree(&op);
  });
}

static RankedTensorType operandType(ttng::WarpGroupDotOp dot) {
  auto left = cast<MemDescType>(dot.getA().getType());
  auto encoding = DotOperandAttr::get(dot.getContext(), 0, encodingOf(dot.getD().getType()), /*kWidth=*/2);
  return RankedTensorType::get(left.getShape(), left.getElementType(), encoding);
}

/// Loads the operand before the loop, or the first loop of the same block that reads it.
Value Keeper::inRegisters(LocalAllocOp allocation, RankedTensorType type, scf::ForOp loop) {
  Value &known = loaded[{allocation, type}];
  if (!known) {
    builder.setInsertionPoint(allocation->getBlock()->findAncestorOpInBlock(*loop));
    known = LocalLoadOp::create(builder, allocation.getLoc(), type, allocation);
  }
  return known;
}

/// Keeps the operands of all dots that gain from it, or of none.
unsigned Keeper::keepIn(scf::ForOp loop) {
  SmallVector<std::pair<ttng::WarpGroupDotOp, LocalAllocOp>> dots;
  llvm::SmallDenseSet<std::pair<Value, Type>, 4> operands;
  unsigned registers = registersOfDots(loop);
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>())
    if (LocalAllocOp allocation = invariantLeft(dot, loop)) {
      dots.push_back({dot, allocation});
      if (operands.insert({allocation, operandType(dot)}).second)
        registers += analysis::registersOf(operandType(dot));
    }
  if (registers > kMostRegistersOfDots || !hasNoBranches(loop))
    return 0;
  for (auto [dot, allocation] : dots)
    dot.getAMutable().set(inRegisters(allocation, operandType(dot), loop));
  return dots.size();
}

unsigned Keeper::run() {
  unsigned count = 0;
  function.walk([&](scf::ForOp loop) { count += keepIn(loop); });
  return count;
}

namespace {
struct KeepOperands : nvidia::impl::KeepOperandsBase<KeepOperands> {
  void runOnOperation() final {
    // Warps that only load leave the others no registers.
    const WalkResult specialized = getOperation().walk([](WarpSpecializeOp) { return WalkResult::interrupt(); });
    if (!specialized.wasInterrupted())
      numKept += Keeper(getOperation()).run();
  }
};
} // namespace
