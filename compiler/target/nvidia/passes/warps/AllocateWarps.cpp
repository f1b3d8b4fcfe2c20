// Gives the partitions of `ttg.warp_specialize` that a user wrote their warps and registers.
//
// Larger partitions come first, so that those of four warps or more are whole warp groups. A group of warps has one
// number of registers: the largest that its partitions ask for.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_ALLOCATEWARPS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

static constexpr unsigned kGroup = 4;
static constexpr unsigned kFewestRegisters = 24, kMostRegisters = 256, kRegisterStep = 8;

/// The first warp of each partition; returns the number of all warps.
static unsigned placeWarps(WarpSpecializeOp op) {
  const ArrayRef<int32_t> counts = op.getPartitionNumWarps();
  SmallVector<unsigned> bySize = llvm::to_vector(llvm::seq<unsigned>(0, counts.size()));
  llvm::stable_sort(bySize, [&](unsigned a, unsigned b) { return counts[a] > counts[b]; });
  SmallVector<int32_t> first(counts.size());
  unsigned next = op.warpsOf(0).second;
  if (next % kGroup && !counts.empty() && counts[bySize.front()] >= int32_t(kGroup))
    next = llvm::alignTo(next, kGroup);
  for (unsigned partition : bySize) {
    first[partition] = next;
    next += counts[partition];
  }
  op.setWarpGroupStartIds(first);
  return next;
}

/// By warp group: what the partitions in it ask for at most.
static llvm::MapVector<unsigned, int32_t> registersOfGroups(WarpSpecializeOp op) {
  llvm::MapVector<unsigned, int32_t> groups;
  for (auto [partition, asked] : llvm::enumerate(*op.getRequestedRegisters())) {
    const auto [first, count] = op.warpsOf(1 + partition);
    for (unsigned group = first / kGroup; group <= (first + count - 1) / kGroup; ++group)
      groups[group] =
          std::max<int32_t>(groups[group], llvm::alignTo(std::max<int32_t>(asked, kFewestRegisters), kRegisterStep));
  }
  return groups;
}

/// The default region gets what the partitions leave.
static LogicalResult shareRegisters(WarpSpecializeOp op) {
  const auto groups = registersOfGroups(op);
  const unsigned total = totalWarpsOf(op), own = op.warpsOf(0).second;
  int64_t left = int64_t(op.initialRegisters()) * total;
  for (auto [group, registers] : groups)
    left -= int64_t(registers) * kGroup;
  for (unsigned group = llvm::divideCeil(own, kGroup); group < llvm::divideCeil(total, kGroup); ++group)
    if (!groups.contains(group)) // warps of other ops' partitions keep what they have
      left -= int64_t(op.initialRegisters()) * kGroup;
  const int64_t share = std::min<int64_t>(left / own / kRegisterStep * kRegisterStep, kMostRegisters);
  if (share < int64_t(kFewestRegisters))
    return op.emitError() << "the partitions ask for so many registers that " << share
                          << " are left for each thread of the default partition, which needs " << kFewestRegisters
                          << "; a thread starts with " << op.initialRegisters();
  SmallVector<int32_t> actual = {int32_t(share)};
  for (unsigned region = 1; region < op->getNumRegions(); ++region)
    actual.push_back(groups.lookup(op.warpsOf(region).first / kGroup));
  op.setActualRegisters(actual);
  return success();
}

/// Analyses see the values themselves.
static void resolveCaptures(WarpSpecializeOp op) {
  for (Region &region : op.getPartitionRegions()) {
    for (auto [argument, value] : llvm::zip_equal(region.getArguments(), op.getCaptures()))
      argument.replaceAllUsesWith(value);
    region.front().eraseArguments(0, region.getNumArguments());
  }
  op.getCapturesMutable().clear();
}

//--- tiles ---------------------------------------------------------------------------------

/// A tile that a partition uses and that is defined outside of the op; null where there is none.
static Value foreignTile(WarpSpecializeOp op, Region &partition) {
  Value tile;
  partition.walk([&](Operation *inner) {
    for (Value operand : inner->getOperands())
      if (isa<RankedTensorType>(operand.getType()) && !op->isAncestor(operand.getParentRegion()->getParentOp()))
        tile = operand;
  });
  return tile;
}

/// The same tile, computed by the partition's own warps or read from a buffer that the default warps write.
static Value tileFor(WarpSpecializeOp op, Region &partition, Value tile) {
  OpBuilder inside = OpBuilder::atBlockBegin(&partition.front());
  Operation *source = tile.getDefiningOp();
  if (source && isPure(source) && source->getNumRegions() == 0) {
    Operation *copy = inside.clone(*source);
    return copy->getResult(cast<OpResult>(tile).getResultNumber());
  }
  auto type = cast<RankedTensorType>(tile.getType());
  OpBuilder before(op);
  SmallVector<unsigned> order;
  for (unsigned dim = type.getRank(); dim-- > 0;)
    order.push_back(dim);
  auto encoding = SwizzledSharedAttr::get(op.getContext(), 1, 1, 1, order);
  auto buffer = MemDescType::get(type.getShape(), type.getElementType(), encoding,
                                 SharedMemoryAttr::get(op.getContext()), /*mutable=*/false);
  Value written = LocalAllocOp::create(before, op.getLoc(), buffer, tile, IntegerAttr());
  return LocalLoadOp::create(inside, op.getLoc(), type, written);
}

/// Registers of tiles are of the warps that computed them.
static void giveTilesToPartitions(WarpSpecializeOp op) {
  for (Region &partition : op.getPartitionRegions())
    while (Value tile = foreignTile(op, partition)) {
      Value own = tileFor(op, partition, tile);
      tile.replaceUsesWithIf(own,
                             [&](OpOperand &use) { return partition.isAncestor(use.getOwner()->getParentRegion()); });
    }
}

namespace {
struct AllocateWarps : nvidia::impl::AllocateWarpsBase<AllocateWarps> {
  void runOnOperation() final {
    ModuleOp module = getOperation();
    if (module->hasAttr(kTotalWarps))
      return;
    SmallVector<WarpSpecializeOp> ops;
    module.walk([&](WarpSpecializeOp op) { ops.push_back(op); });
    if (ops.empty())
      return;
    unsigned total = 0;
    bool hasRegisters = false;
    for (WarpSpecializeOp op : ops) {
      resolveCaptures(op);
      giveTilesToPartitions(op);
      total = std::max(total, placeWarps(op));
      hasRegisters |= op.getRequestedRegisters().has_value();
    }
    // Registers change by whole warp groups.
    total = hasRegisters ? llvm::alignTo(total, kGroup) : total;
    module->setAttr(kTotalWarps, Builder(module.getContext()).getI32IntegerAttr(total));
    for (WarpSpecializeOp op : ops)
      if (op.getRequestedRegisters() && failed(shareRegisters(op)))
        return signalPassFailure();
  }
};
} // namespace
