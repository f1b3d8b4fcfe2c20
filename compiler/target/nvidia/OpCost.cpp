// Counts elements, bytes and wavefronts by unit.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/OpCost.h"

#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/gpu/TileMoves.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/dots/LoopCost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using explain::Unit;

static constexpr unsigned kWarpThreads = 32;

/// The shape and the elements of a tile, or of a buffer of one.
static std::pair<ArrayRef<int64_t>, Type> tileOf(Type type) {
  if (auto buffer = dyn_cast<ttg::MemDescType>(type))
    return {buffer.getShape(), buffer.getElementType()};
  auto tile = cast<RankedTensorType>(type);
  return {tile.getShape(), tile.getElementType()};
}

OpCost OpCosts::ofAccess(const analysis::MemoryAccess &access) const {
  const uint64_t elements = access.tile().getNumElements();
  const uint64_t instructions =
      llvm::divideCeil(elements, uint64_t{kWarpThreads} * analysis::vectorElems(access, axes));
  return {Unit::MemoryCopies, std::max(llvm::divideCeil(access.bytes(elements), arch.globalBytes), instructions),
          access.isStore() ? "store" : "load", access.bytes(elements)};
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

/// Cycles in which a warp uses the data path of shared memory.
static uint64_t wavefrontsOf(const layout::SharedAccessPattern &pattern) {
  return pattern.accesses.size() * pattern.wavefronts;
}

/// The wavefronts of a conversion; shuffles use the path of shared memory, too.
static uint64_t wavefrontsOf(const layout::ConversionPlan &plan) {
  if (plan.kind == layout::ConversionKind::Shared)
    return wavefrontsOf(plan.shared.store) + wavefrontsOf(plan.shared.load);
  if (plan.kind == layout::ConversionKind::Shuffle)
    return llvm::count_if(plan.shuffle.rounds, [](const layout::ShuffleRound &round) { return round.moves; });
  return 0;
}

OpCost OpCosts::of(Operation *op) const {
  if (auto access = analysis::anyAccessOf(op); access && access->tile())
    return ofAccess(*access);
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op))
    return ofTmaCopy(copy.getResult().getType(), "load by TMA");
  if (auto copy = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op))
    return ofTmaCopy(copy.getSrc().getType(), "store by TMA");
  if (auto dot = dyn_cast<tt::DotOpInterface>(op))
    return ofDot(dot);
  const unsigned warps = ttg::numWarpsOf(op);
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op)) {
    const layout::ConversionPlan plan = ttg::planConversion(convert);
    if (const uint64_t wavefronts = wavefrontsOf(plan))
      return {Unit::SharedMemory, wavefronts * warps, "layout conversion"};
    return {};
  }
  if (auto access = lowering::sharedTileAccess(op))
    return {Unit::SharedMemory, wavefrontsOf(access->pattern) * warps,
            access->isLoad ? "read of shared memory" : "write to shared memory"};
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return {Unit::Alu, elementsOf(reduce->getOperand(0).getType()) / arch.fma, "reduction"};
  if (op->getNumResults() == 0 || isa<arith::ConstantOp>(op))
    return {};
  const uint64_t elements = elementsOf(op->getResult(0).getType());
  if (usesSpecialFunctions(op))
    return {Unit::SpecialFunctions, elements / arch.special, op->getName().stripDialect().str()};
  if (isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) || isa<tt::AddPtrOp>(op))
    return {Unit::Alu, elements / arch.fma, "elementwise"};
  return {};
}
