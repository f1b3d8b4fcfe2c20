// Emits ranges and ops that only change the coordinates of registers.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

/// The images of an input's bits in an output.
static SmallVector<uint32_t> basesOf(const LinearLayout &layout, StringRef input, StringRef output) {
  SmallVector<uint32_t> bases;
  for (unsigned bit = 0; bit < layout.inBits(input); ++bit)
    bases.push_back(layout.basis(input, bit, output));
  return bases;
}

static LogicalResult emitMakeRange(TtgFunctionEmitter &emitter, tt::MakeRangeOp op) {
  IrBuilder &ir = emitter.ir;
  const LinearLayout &layout = ttg::linearLayoutOf(cast<RankedTensorType>(op.getType()));
  const llvm::StringRef dim = layout.outputNames().front();
  const SmallVector<uint32_t> lanes = basesOf(layout, layout::kLane, dim), warps = basesOf(layout, layout::kWarp, dim);
  llvm::Value *base = emitter.threadBits(lanes, warps);
  uint32_t threadMask = 0;
  for (uint32_t basis : llvm::concat<const uint32_t>(lanes, warps))
    threadMask |= basis;
  const int64_t start = static_cast<int32_t>(op.getStart());
  Tile result;
  for (int32_t index = 0; index < layout.inSize(layout::kRegister); ++index) {
    const uint32_t own = layout.apply({{layout::kRegister, index}}).front();
    if (own & threadMask)
      result.push_back(emitter.materialise({ir.CreateXor(base, ir.getInt32(own)), start, true}, ir.getInt32Ty()));
    else
      result.push_back(emitter.materialise({threadMask ? base : nullptr, start + own, true}, ir.getInt32Ty()));
  }
  emitter.define(op, std::move(result));
  return success();
}

static LogicalResult emitSplat(TtgFunctionEmitter &emitter, tt::SplatOp op) {
  emitter.define(op, Tile(numRegisters(op.getType()), emitter.scalar(op.getSrc())));
  return success();
}

/// The source coordinates of an element of the op's result.
static SmallVector<int64_t> sourceCoordinates(Operation *op, ArrayRef<int32_t> coordinates) {
  const ArrayRef<int64_t> from = tt::shapeOf(op->getOperand(0).getType());
  if (isa<tt::UnsplatOp>(op))
    return SmallVector<int64_t>(from.size(), 0);
  SmallVector<int64_t> result(coordinates.begin(), coordinates.end());
  if (auto expand = dyn_cast<tt::ExpandDimsOp>(op)) {
    result.erase(result.begin() + expand.getAxis());
  } else if (isa<tt::BroadcastOp>(op)) {
    for (auto [coordinate, extent] : llvm::zip_equal(result, from))
      coordinate = extent == 1 ? 0 : coordinate;
  } else if (auto trans = dyn_cast<tt::TransOp>(op)) {
    for (auto [dim, sourceDim] : llvm::enumerate(trans.getOrder()))
      result[sourceDim] = coordinates[dim];
  } else {
    int64_t linear = 0;
    for (auto [coordinate, extent] : llvm::zip_equal(coordinates, tt::shapeOf(op->getResult(0).getType())))
      linear = linear * extent + coordinate;
    result.resize(from.size());
    for (size_t dim = from.size(); dim-- > 0; linear /= from[dim])
      result[dim] = linear % from[dim];
  }
  return result;
}

/// For each register of the result, the source's register with the same element; elements stay in their threads. Empty
/// where the layouts do not match.
static SmallVector<unsigned> sourceRegisters(Operation *op) {
  const LinearLayout &from = ttg::linearLayoutOf(cast<RankedTensorType>(op->getOperand(0).getType()));
  std::map<SmallVector<int64_t>, unsigned> registerAt;
  for (int32_t index = from.inSize(layout::kRegister); index-- > 0;) { // of copies, the first
    const LinearLayout::Coordinates coordinates = from.apply({{layout::kRegister, index}});
    registerAt[SmallVector<int64_t>(coordinates.begin(), coordinates.end())] = index;
  }
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  const LinearLayout none;
  const LinearLayout &to = type ? ttg::linearLayoutOf(type) : none;
  SmallVector<unsigned> registers;
  for (int32_t index = 0; index < (type ? to.inSize(layout::kRegister) : 1); ++index) {
    const LinearLayout::Coordinates coordinates =
        type ? to.apply({{layout::kRegister, index}}) : LinearLayout::Coordinates();
    auto found = registerAt.find(sourceCoordinates(op, coordinates));
    if (found == registerAt.end())
      return {};
    registers.push_back(found->second);
  }
  return registers;
}

static LogicalResult emitReordered(TtgFunctionEmitter &emitter, Operation *op) {
  const Tile from = emitter.tile(op->getOperand(0));
  SmallVector<unsigned> registers = sourceRegisters(op);
  // Where the order of elements is free, registers may keep their order.
  if (auto reshape = dyn_cast<tt::ReshapeOp>(op); registers.empty() && reshape && reshape.getAllowReorder())
    if (numRegisters(op->getResult(0).getType()) == from.size())
      registers = llvm::to_vector(llvm::seq<unsigned>(from.size()));
  if (registers.empty())
    return op->emitError() << "the layouts of `" << op->getName() << "` do not fit together";
  Tile result;
  for (unsigned index : registers)
    result.push_back(from[index]);
  emitter.define(op->getResult(0), std::move(result));
  return success();
}

void lowering::addShapeEmitters(OpEmitters &table) {
  table.add<emitMakeRange, tt::MakeRangeOp>();
  table.add<emitSplat, tt::SplatOp>();
  table.add<emitReordered, tt::UnsplatOp, tt::ExpandDimsOp, tt::BroadcastOp, tt::ReshapeOp, tt::TransOp>();
}
