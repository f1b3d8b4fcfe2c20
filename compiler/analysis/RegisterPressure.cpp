// Adds up live tiles at the ops that need all of a tile at once.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/RegisterPressure.h"

#include "compiler/analysis/MemoryAccess.h"

#include "mlir/Analysis/Liveness.h"

using namespace mlir;
using namespace nereid;

unsigned analysis::registersOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return 1;
  const layout::LinearLayout &layout = ttg::linearLayoutOf(tile);
  const unsigned copies = 1u << llvm::popcount(layout.freeVariableMask(layout::kRegister));
  const unsigned elements = layout.inSize(layout::kRegister) / copies;
  return llvm::divideCeil(elements * memoryBits(tile.getElementType()), 32);
}

/// The longest run of neighbours, or of equal values, that a thread addresses by constant offsets.
static int64_t longestRun(const index::AxisInfo &info) {
  int64_t longest = 1;
  for (unsigned dim = 0; dim < info.dims.size(); ++dim)
    longest = std::max({longest, info.contiguity(dim), info.constancy(dim)});
  return std::min<int64_t>(longest, 8);
}

/// The registers of a live value. Constants take none; addresses, indices, masks and splats are one value plus
/// constants.
static unsigned weightOf(Value value, const index::AxisInfoAnalysis *axes) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!tile || tile.getElementType().isInteger(1) ||
      (op && (op->hasTrait<OpTrait::ConstantLike>() || isa<tt::SplatOp>(op))))
    return 0;
  const bool isComputed = op && !analysis::anyAccessOf(op) && !isa<tt::ReduceOp>(op) && op->getNumRegions() == 0;
  const bool isIndex = isa<tt::PointerType>(tile.getElementType()) || tile.getElementType().isInteger();
  if (isComputed && isIndex)
    return 0;
  const unsigned registers = analysis::registersOf(tile);
  return axes && isIndex && !op ? llvm::divideCeil(registers, longestRun(axes->of(value))) : registers;
}

static bool needsWholeTiles(Operation *op) {
  return isa<tt::DotOpInterface>(op) || analysis::anyAccessOf(op) ||
         isa<tt::ReduceOp, ttg::ConvertLayoutOp, ttg::LocalLoadOp, ttg::LocalStoreOp, tt::CallOp>(op);
}

namespace {
class Pressure {
public:
  Pressure(tt::FuncOp function, const index::AxisInfoAnalysis *axes) : liveness(function), axes(axes) {}

  /// The peak inside a basic block; `outer` values are live throughout.
  void visit(Block &block, const llvm::SmallPtrSet<Value, 16> &outer) {
    const LivenessBlockInfo *info = liveness.getLiveness(&block);
    for (Operation &op : block) {
      if (op.getNumRegions() > 0 && !isa<tt::ReduceOp>(op)) {
        const llvm::SmallPtrSet<Value, 16> around = valuesAround(op, *info, outer);
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            visit(inner, around);
      } else if (needsWholeTiles(&op)) {
        note(op, *info, outer);
      }
    }
  }

  unsigned peak = 0;

private:
  /// The values live while the regions of `op` run: those that they use, and those used after it.
  llvm::SmallPtrSet<Value, 16> valuesAround(Operation &op, const LivenessBlockInfo &info,
                                            const llvm::SmallPtrSet<Value, 16> &outer) {
    llvm::SmallPtrSet<Value, 16> around = outer;
    for (Value value : info.currentlyLiveValues(&op)) {
      const bool isInside = llvm::any_of(value.getUsers(), [&](Operation *user) { return op.isProperAncestor(user); });
      if (value.getDefiningOp() != &op && (isInside || !liveness.isDeadAfter(value, &op)))
        around.insert(value);
    }
    return around;
  }

  void note(Operation &op, const LivenessBlockInfo &info, const llvm::SmallPtrSet<Value, 16> &outer) {
    llvm::SmallPtrSet<Value, 16> live = outer;
    for (Value value : info.currentlyLiveValues(&op))
      live.insert(value);
    unsigned total = 0;
    for (Value value : live)
      if (value.getDefiningOp() != &op || !reusesOperandRegisters(op))
        total += weightOf(value, axes);
    peak = std::max(peak, total);
  }

  /// A dot's result reuses the registers of its accumulator, if nothing else needs them.
  bool reusesOperandRegisters(Operation &op) {
    return isa<tt::DotOpInterface>(op) && llvm::any_of(op.getOperands(), [&](Value operand) {
             return operand.getType() == op.getResult(0).getType() && weightOf(operand, axes) &&
                    liveness.isDeadAfter(operand, &op);
           });
  }

  Liveness liveness;
  const index::AxisInfoAnalysis *axes;
};
} // namespace

unsigned analysis::peakRegisters(tt::FuncOp function, const index::AxisInfoAnalysis *axes) {
  Pressure pressure(function, axes);
  for (Block &block : function.getBody())
    pressure.visit(block, {});
  return pressure.peak;
}

unsigned analysis::bytesInFlight(tt::FuncOp function) {
  unsigned least = 0;
  function.walk([&](Block *block) {
    unsigned bytes = 0;
    for (auto load : block->getOps<tt::LoadOp>())
      if (isa<RankedTensorType>(load.getType()))
        bytes += 4 * registersOf(load.getType());
    if (bytes > 0)
      least = least == 0 ? bytes : std::min(least, bytes);
  });
  return least;
}
