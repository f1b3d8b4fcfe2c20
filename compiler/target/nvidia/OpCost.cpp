// Costs of TMA and of dots by tensor cores.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/OpCost.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using explain::Unit;

/// The shape and the elements of a tile, or of a buffer of one.
static std::pair<ArrayRef<int64_t>, Type> tileOf(Type type) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(type))
    return {buffer.getShape(), buffer.getElementType()};
  auto tile = cast<RankedTensorType>(type);
  return {tile.getShape(), tile.getElementType()};
}

OpCost OpCosts::ofTmaCopy(ttg::MemDescType tile, StringRef label) const {
  const uint64_t bytes = tt::storageBytes(tile.getElementType(), ShapedType::getNumElements(tile.getShape()));
  return {Unit::MemoryCopies, bytes / arch.globalBytes, label.str(), bytes};
}

/// Cycles in which a warp-group dot reads its operands from shared memory, which narrow instructions wait for.
static uint64_t operandCycles(tt::DotOpInterface dot, ttg::NvidiaMmaAttr mma, uint64_t products) {
  constexpr uint64_t kGroupRows = 64;                      // of an instruction of four warps
  constexpr uint64_t kRowBytes = 32, kBytesPerCycle = 128; // of an operand's row in one instruction
  const ArrayRef<unsigned> shape = mma.getInstrShape();    // of a warp's part
  const uint64_t rows = isa<ttg::MemDescType>(dot.getA().getType()) ? kGroupRows : 0;
  const uint64_t instructions = products / (kGroupRows * shape[1] * shape[2]);
  return instructions * (rows + shape[1]) * kRowBytes / kBytesPerCycle;
}

OpCost OpCosts::ofDot(tt::DotOpInterface dot) const {
  auto result = cast<RankedTensorType>(dot.getD().getType());
  const auto [shape, element] = tileOf(dot.getA().getType());
  const uint64_t products = result.getNumElements() * shape.back();
  auto mma = dyn_cast<ttg::NvidiaMmaAttr>(result.getEncoding());
  if (!mma)
    return {Unit::Alu, products / arch.fma, "dot by FMA"};
  const unsigned bits = std::max(element.getIntOrFloatBitWidth(), 8u);
  const unsigned rate = mma.isWgmma() ? arch.tensorProducts : arch.warpMmaProducts;
  const uint64_t cycles = products * bits / 16 / std::max(rate, 1u);
  return {Unit::TensorCores, mma.isWgmma() ? std::max(cycles, operandCycles(dot, mma, products)) : cycles, "dot"};
}

bool OpCosts::isAsync(Operation *op) const {
  auto dot = dyn_cast<ttng::WarpGroupDotOp>(op);
  return lowering::OpCosts::isAsync(op) || (dot && dot.getIsAsync()) ||
         isa<ttng::AsyncTmaCopyGlobalToLocalOp, ttng::AsyncTmaCopyLocalToGlobalOp>(op);
}

std::optional<OpCost> OpCosts::ofOwn(Operation *op) const {
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op))
    return ofTmaCopy(copy.getResult().getType(), "load by TMA");
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op))
    return ofTmaCopy(copy.getSrc().getType(), "store by TMA");
  return std::nullopt;
}
