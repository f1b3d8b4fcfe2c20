// Counts elements, bytes and wavefronts by unit.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/gpu/OpCosts.h"

#include "compiler/analysis/SpecialFunctions.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/lowering/gpu/TileMoves.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using analysis::elementsOf;
using explain::Unit;

OpCost OpCosts::ofAccess(const analysis::MemoryAccess &access) const {
  const uint64_t elements = access.tile().getNumElements();
  const uint64_t instructions =
      llvm::divideCeil(elements, uint64_t{rates.warpThreads} * analysis::vectorElems(access, axes));
  return {Unit::MemoryCopies, std::max(llvm::divideCeil(access.bytes(elements), rates.globalBytes), instructions),
          access.isStore() ? "store" : "load", access.bytes(elements)};
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

bool OpCosts::isAsync(Operation *op) const { return isa<ttg::AsyncCopyGlobalToLocalOp>(op); }

/// Conversions of layouts, and accesses to buffers.
OpCost OpCosts::ofShared(Operation *op) const {
  const unsigned warps = ttg::numWarpsOf(op);
  if (auto convert = dyn_cast<ttg::ConvertLayoutOp>(op)) {
    const uint64_t wavefronts = wavefrontsOf(ttg::planConversion(convert));
    return wavefronts ? OpCost{Unit::SharedMemory, wavefronts * warps, "layout conversion"} : OpCost();
  }
  if (auto access = sharedTileAccess(op))
    return {Unit::SharedMemory, wavefrontsOf(access->pattern) * warps,
            access->isLoad ? "read of shared memory" : "write to shared memory"};
  return {};
}

OpCost OpCosts::of(Operation *op) const {
  if (auto access = analysis::anyAccessOf(op); access && access->tile())
    return ofAccess(*access);
  if (std::optional<OpCost> own = ofOwn(op))
    return *own;
  if (auto dot = dyn_cast<tt::DotOpInterface>(op))
    return ofDot(dot);
  if (const OpCost cost = ofShared(op); cost.unit != Unit::None || isa<ttg::ConvertLayoutOp>(op))
    return cost;
  if (auto reduce = dyn_cast<tt::ReduceOp>(op))
    return {Unit::Alu, elementsOf(reduce->getOperand(0).getType()) / rates.fma, "reduction"};
  if (op->getNumResults() == 0 || isa<arith::ConstantOp>(op))
    return {};
  const uint64_t elements = elementsOf(op->getResult(0).getType());
  if (analysis::usesSpecialFunctions(op))
    return {Unit::SpecialFunctions, elements / rates.special, op->getName().stripDialect().str()};
  if (isa<arith::ArithDialect, mlir::math::MathDialect>(op->getDialect()) || isa<tt::AddPtrOp>(op))
    return {Unit::Alu, elements / rates.fma, "elementwise"};
  return {};
}
