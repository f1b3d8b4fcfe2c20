// Lays out loads for buffers in shared memory so that the lanes of a wave fill consecutive addresses.
// SPDX-License-Identifier: MIT
//
//   %x = tt.load %p : #blocked         ->   %x = tt.load %q : #linear, where lane i has the i-th vector of #shared
//   %b = ttg.local_alloc %x : #shared       %b = ttg.local_alloc %x : #shared
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/target/amd/passes/MatrixLayouts.h"
#include "compiler/target/amd/passes/Passes.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/passes/ttg/PipelinedLoads.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace nereid::amd {
#define GEN_PASS_DEF_ORDERCOPIES
#include "compiler/target/amd/passes/Passes.h.inc"
} // namespace nereid::amd

using namespace mlir;
using namespace nereid;
using namespace nereid::amd;
using layout::LinearLayout;

//--- the layout ----------------------------------------------------------------------------

/// The buffer's offsets distributed over registers of a vector, lanes, waves and further registers; null where there
/// are fewer.
static ttg::LayoutEncoding orderOf(ttg::MemDescType buffer, unsigned vectorElems, ttg::ThreadCounts threads) {
  const LinearLayout offsets = cast<ttg::LayoutEncoding>(buffer.getEncoding()).toLinearLayout(buffer.getShape());
  const unsigned vectorBits = llvm::Log2_32(vectorElems), laneBits = llvm::Log2_32(threads.threadsPerWarp),
                 warpBits = llvm::Log2_32(threads.numWarps), numBits = offsets.inBits(layout::kOffset);
  if (!offsets.isInvertible() || numBits < vectorBits + laneBits + warpBits)
    return {};
  std::vector<LinearLayout::Input> inputs;
  for (StringRef name : {layout::kRegister, layout::kLane, layout::kWarp, layout::kBlock})
    inputs.push_back({name.str(), {}});
  for (unsigned bit = 0; bit < numBits; ++bit) {
    const bool isLane = bit >= vectorBits && bit < vectorBits + laneBits;
    const bool isWarp = bit >= vectorBits + laneBits && bit < vectorBits + laneBits + warpBits;
    inputs[isLane ? 1 : isWarp ? 2 : 0].bases.push_back(offsets.basis(layout::kOffset, bit));
  }
  return ttg::LinearAttr::get(buffer.getContext(), LinearLayout::fromBases(inputs, offsets.outputs()));
}

//--- values in another layout --------------------------------------------------------------

namespace {
/// Computes tiles in another layout: beside the ops that compute them, or by a conversion before the loop.
class Relayout {
public:
  explicit Relayout(scf::ForOp loop) : loop(loop), builder(loop) {}

  bool isPossible(Value value);
  Value of(Value value, ttg::LayoutEncoding encoding);

private:
  Value compute(Value value, RankedTensorType type, ttg::LayoutEncoding encoding);
  Value copied(Operation *op, Type type, ArrayRef<Value> operands);

  scf::ForOp loop;
  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, Attribute>, Value> known;
};
} // namespace

static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 && isPure(op);
}

static bool isEqualElements(Value value) {
  DenseElementsAttr constant;
  return matchPattern(value, m_Constant(&constant)) && constant.isSplat();
}

bool Relayout::isPossible(Value value) {
  if (!isa<RankedTensorType>(value.getType()) || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || op->getParentOp() != loop)
    return false;
  if (isa<tt::MakeRangeOp, tt::SplatOp>(op) || isEqualElements(value))
    return true;
  return (isa<tt::ExpandDimsOp, tt::BroadcastOp>(op) || isElementwise(op)) && op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return isPossible(operand); });
}

Value Relayout::copied(Operation *op, Type type, ArrayRef<Value> operands) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  Operation *copy = op->clone();
  copy->setOperands(operands);
  copy->getResult(0).setType(type);
  return builder.insert(copy)->getResult(0);
}

Value Relayout::compute(Value value, RankedTensorType type, ttg::LayoutEncoding encoding) {
  Operation *op = value.getDefiningOp();
  if (isEqualElements(value)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointAfter(op);
    auto numbers = cast<DenseElementsAttr>(cast<arith::ConstantOp>(op).getValue());
    return arith::ConstantOp::create(builder, op->getLoc(), numbers.reshape(type));
  }
  if (op && isa<tt::MakeRangeOp, tt::SplatOp>(op))
    return copied(op, type, llvm::to_vector(op->getOperands()));
  if (auto broadcast = dyn_cast_or_null<tt::BroadcastOp>(op))
    return copied(op, type, of(broadcast.getSrc(), encoding));
  if (op && isa<tt::ExpandDimsOp, tt::TransOp>(op)) {
    const auto relation = cast<ttg::LayoutRelationOpInterface>(op).getLayoutRelation();
    if (ttg::LayoutEncoding ofOperand = relation.operands.front().transfer.backward(encoding))
      return copied(op, type, of(op->getOperand(0), ofOperand));
  }
  if (op && isElementwise(op)) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(of(operand, encoding));
    return copied(op, type, operands);
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(loop);
  return ttg::ConvertLayoutOp::create(builder, value.getLoc(), type, value);
}

Value Relayout::of(Value value, ttg::LayoutEncoding encoding) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile || tile.getEncoding() == encoding)
    return value;
  if (Value moved = known.lookup({value, encoding}))
    return moved;
  Value moved = compute(value, RankedTensorType::get(tile.getShape(), tile.getElementType(), encoding), encoding);
  return known[{value, encoding}] = moved;
}

//--- the pass ------------------------------------------------------------------------------

/// A load to LDS gives zeros where it is masked off.
static bool givesZeros(tt::LoadOp load) {
  Value other = load.getOther();
  return !other || tt::isPositiveZero(other);
}

/// Whether the load's addresses and mask allow vectors of the size that a lane loads to LDS.
static bool hasVectors(tt::LoadOp load, ttg::LayoutEncoding order, const index::AxisInfoAnalysis &axes,
                       const Arch &arch) {
  const analysis::MemoryAccess access = *analysis::memoryAccessOf(load);
  const LinearLayout layout = order.toLinearLayout(access.tile().getShape());
  return access.bytes(analysis::vectorElems(access, axes, layout)) >= arch.ldsLoadBytes;
}

static bool orderCopy(tt::LoadOp load, scf::ForOp loop, const index::AxisInfoAnalysis &axes, const Arch &arch) {
  ttg::LocalAllocOp buffer = ttg::onlyAllocation(load);
  auto pointer = load.getPtr().getDefiningOp<tt::AddPtrOp>();
  if (!buffer || !pointer || !load->hasAttr(ttg::kBoundedOffset) || !givesZeros(load))
    return false;
  const unsigned bytes = tt::storageBytes(buffer.getType().getElementType());
  const ttg::ThreadCounts threads{ttg::totalWarpsOf(load->getParentOfType<ModuleOp>()), arch.waveSize};
  const ttg::LayoutEncoding order = bytes <= arch.ldsLoadBytes
                                        ? orderOf(buffer.getType(), arch.ldsLoadBytes / bytes, threads)
                                        : ttg::LayoutEncoding();
  Relayout relayout(loop);
  if (!order || !hasVectors(load, order, axes, arch) || !relayout.isPossible(pointer.getOffset()) ||
      (load.getMask() && !relayout.isPossible(load.getMask())))
    return false;
  OpBuilder builder(load);
  auto pointers = cast<RankedTensorType>(pointer.getType());
  const auto type = RankedTensorType::get(pointers.getShape(), pointers.getElementType(), order);
  Value base = pointer.getPtr().getDefiningOp<tt::SplatOp>().getSrc();
  Value splat = tt::SplatOp::create(builder, load.getLoc(), type, base);
  Value offset = relayout.of(pointer.getOffset(), order);
  load.getPtrMutable().assign(tt::AddPtrOp::create(builder, load.getLoc(), type, splat, offset));
  if (load.getMask())
    load.getMaskMutable().assign(relayout.of(load.getMask(), order));
  load.getOtherMutable().clear();
  load.getResult().setType(RankedTensorType::get(type.getShape(), buffer.getType().getElementType(), order));
  return true;
}

namespace {
struct OrderCopies : amd::impl::OrderCopiesBase<OrderCopies> {
  void runOnOperation() final {
    const std::optional<Arch> arch = archOf(getOperation());
    if (!arch || !arch->ldsLoadBytes)
      return;
    SmallVector<tt::LoadOp> loads;
    getOperation().walk([&](tt::LoadOp load) {
      if (isa<scf::ForOp>(load->getParentOp()))
        loads.push_back(load);
    });
    if (loads.empty())
      return;
    const index::AxisInfoAnalysis axes(getOperation());
    for (tt::LoadOp load : loads)
      numOrdered += orderCopy(load, cast<scf::ForOp>(load->getParentOp()), axes, *arch);
  }
};
} // namespace
