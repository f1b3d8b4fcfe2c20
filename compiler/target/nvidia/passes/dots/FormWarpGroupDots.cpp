// Turns dots with a warp-group layout into wgmma dots, with operands in shared memory.
//
//   %d = tt.dot %a, %b, %c   ->   %x = ttg.local_alloc %a
//                                 %y = ttg.local_alloc %b
//                                 ttng.fence_async_shared
//                                 %d = ttng.warp_group_dot %x, %y, %c
//
// The fence precedes any barrier after the buffer's stores, so that the barrier makes the stores visible to tensor
// cores, too.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/layout/Mma.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/IR/Builders.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_FORMWARPGROUPDOTS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// The dimension along which a thread, or else adjacent lanes, hold adjacent elements.
static unsigned fastestDim(RankedTensorType tile) {
  const layout::LinearLayout &layout = linearLayoutOf(tile);
  for (StringRef in : {StringRef(layout::kRegister), StringRef(layout::kLane)})
    for (unsigned bit = 0; bit < layout.inBits(in); ++bit)
      for (unsigned dim = 0; dim < tile.getShape().size(); ++dim)
        if (layout.basis(in, bit)[dim] == 1)
          return dim;
  return tile.getShape().size() - 1;
}

/// The encoding of operand `index` in shared memory: contiguous along K where wgmma requires it, else as its threads
/// hold it.
static NvmmaSharedAttr bufferEncoding(RankedTensorType tile, unsigned index, unsigned columns) {
  const unsigned bits = tile.getElementTypeBitWidth(), depthDim = index == 0 ? 1 : 0;
  const unsigned along = ttng::readsEitherWay(bits) ? fastestDim(tile) : depthDim;
  int64_t extent = tile.getShape()[along];
  if (along != depthDim)
    extent = std::min<int64_t>(extent, index == 0 ? layout::kWarpGroupRows : columns);
  return NvmmaSharedAttr::get(tile.getContext(), ttng::swizzleFor(extent, bits), /*transposed=*/along == 0, bits, 2);
}

namespace {
class Former {
public:
  explicit Former(tt::FuncOp function) : builder(function.getContext()) {}

  void form(tt::DotOp dot);
  void addFences();

private:
  Value bufferOf(tt::DotOp dot, Value tile, NvmmaSharedAttr encoding);
  Value allocate(tt::DotOp dot, Value tile, NvmmaSharedAttr encoding);

  OpBuilder builder;
  SmallVector<LocalAllocOp> allocations;
  llvm::DenseMap<std::pair<Value, Attribute>, LocalAllocOp> allocationOf; ///< by tile and encoding
};
} // namespace

static MemDescType memDesc(ArrayRef<int64_t> shape, Type element, NvmmaSharedAttr encoding) {
  return MemDescType::get(shape, element, encoding, SharedMemoryAttr::get(encoding.getContext()));
}

/// Allocates before the first dot of the tile's basic block, or at the tile's definition if other blocks have the first
/// dot.
Value Former::allocate(tt::DotOp dot, Value tile, NvmmaSharedAttr encoding) {
  auto type = cast<RankedTensorType>(tile.getType());
  LocalAllocOp &known = allocationOf[{tile, encoding}];
  if (known)
    return known;
  if (tile.getParentBlock() != dot->getBlock())
    builder.setInsertionPointAfterValue(tile);
  else
    builder.setInsertionPoint(dot);
  known = LocalAllocOp::create(builder, tile.getLoc(), memDesc(type.getShape(), type.getElementType(), encoding), tile,
                               IntegerAttr());
  allocations.push_back(known);
  return known;
}

/// A transposed tile is stored untransposed and viewed as transposed.
Value Former::bufferOf(tt::DotOp dot, Value tile, NvmmaSharedAttr encoding) {
  auto trans = tile.getDefiningOp<tt::TransOp>();
  if (!trans || trans.getOrder() != ArrayRef<int32_t>{1, 0})
    return allocate(dot, tile, encoding);
  auto before = NvmmaSharedAttr::get(encoding.getContext(), encoding.getSwizzlingByteWidth(), !encoding.getTransposed(),
                                     encoding.getElementBitWidth(), 2);
  Value buffer = allocate(dot, trans.getSrc(), before);
  auto type = cast<RankedTensorType>(tile.getType());
  builder.setInsertionPoint(dot);
  return MemDescTransOp::create(builder, trans.getLoc(), memDesc(type.getShape(), type.getElementType(), encoding),
                                buffer, ArrayRef<int32_t>{1, 0});
}

/// An i1 that tells whether the dot adds to `accumulator`; null where it always does. An accumulator that is zero, or
/// zero under a flag, becomes such an i1.
static Value useAccumulatorFlag(OpBuilder &builder, Location loc, Value &accumulator) {
  if (tt::isPositiveZero(accumulator))
    return arith::ConstantOp::create(builder, loc, builder.getBoolAttr(false));
  auto select = accumulator.getDefiningOp<arith::SelectOp>();
  if (!select || !select->hasOneUse() || !select.getCondition().getType().isInteger(1) ||
      !tt::isPositiveZero(select.getTrueValue()))
    return {};
  accumulator = select.getFalseValue();
  Value yes = arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return arith::XOrIOp::create(builder, loc, select.getCondition(), yes);
}

/// Whether the instructions read operand `index` from registers. A tile may have the operand encoding of another dot.
static bool isRegisterOperand(RankedTensorType tile, unsigned index, NvidiaMmaAttr mma) {
  auto encoding = dyn_cast<DotOperandAttr>(tile.getEncoding());
  return index == 0 && encoding && encoding.getOpIdx() == 0 && encoding.getParent() == mma;
}

void Former::form(tt::DotOp dot) {
  auto mma = cast<NvidiaMmaAttr>(encodingOf(dot.getType()));
  const unsigned columns = mma.getInstrShape()[1];
  Value operands[] = {dot.getA(), dot.getB()};
  Operation *sources[] = {operands[0].getDefiningOp(), operands[1].getDefiningOp()};
  for (auto [index, operand] : llvm::enumerate(operands)) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (!isRegisterOperand(type, index, mma))
      operand = bufferOf(dot, operand, bufferEncoding(type, index, columns));
  }
  builder.setInsertionPoint(dot);
  Value accumulator = dot.getC();
  Value useAccumulator = useAccumulatorFlag(builder, dot.getLoc(), accumulator);
  auto formed =
      ttng::WarpGroupDotOp::create(builder, dot.getLoc(), dot.getType(), operands[0], operands[1], accumulator,
                                   useAccumulator, dot.getInputPrecision(), dot.getMaxNumImpreciseAcc(),
                                   /*isAsync=*/false);
  dot.replaceAllUsesWith(formed.getD());
  Operation *start = dot.getC().getDefiningOp();
  dot.erase();
  if (isa_and_nonnull<arith::SelectOp>(start) && start->use_empty())
    start->erase();
  // A loaded tile has its buffer as its only user.
  if (sources[0] == sources[1])
    sources[1] = nullptr;
  for (Operation *source : sources)
    if (isa_and_nonnull<tt::TransOp>(source) && source->use_empty())
      source->erase();
}

/// Shares one fence between buffers that are filled in sequence.
void Former::addFences() {
  for (LocalAllocOp allocation : allocations) {
    Operation *next = allocation->getNextNode();
    while (next && isa<MemDescTransOp>(next))
      next = next->getNextNode();
    if (auto other = dyn_cast_or_null<LocalAllocOp>(next); other && llvm::is_contained(allocations, other))
      continue;
    builder.setInsertionPointAfter(allocation);
    ttng::FenceAsyncSharedOp::create(builder, allocation.getLoc(), /*bCluster=*/false);
  }
}

namespace {
struct FormWarpGroupDots : nvidia::impl::FormWarpGroupDotsBase<FormWarpGroupDots> {
  using FormWarpGroupDotsBase::FormWarpGroupDotsBase;

  void runOnOperation() final {
    Former former(getOperation());
    SmallVector<tt::DotOp> dots;
    getOperation().walk([&](tt::DotOp dot) {
      auto mma = dyn_cast_or_null<NvidiaMmaAttr>(encodingOf(dot.getType()));
      if (mma && mma.isWgmma())
        dots.push_back(dot);
    });
    for (tt::DotOp dot : dots)
      former.form(dot);
    former.addFences();
    numFormed += dots.size();
  }
};
} // namespace
