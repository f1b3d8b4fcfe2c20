// Plans the reduction of a tile along one dimension: in threads, between lanes, between warps.
// SPDX-License-Identifier: MIT
//
// How to execute a plan, a value being one element of each operand:
//   partial[p] = the values in registers groups[p], combined in order
//   for steps in laneSteps, all p at once:
//     partial[p] = combine(partial[p], shfl.bfly(partial[p ^ partialXor], laneXor))
// If no warps are crossed:
//   result register r = partial[resultPartial[r]]
// Otherwise, for operand i by exchange.operands[i].plan, whose source registers are the partials:
//   one write phase, one barrier, one read phase
//   result register r = loaded registers r * fanIn + j, combined over j = 0 .. fanIn - 1
//   for steps in exchange.laneSteps: result[r] = combine(result[r], shfl.bfly(result[r], laneXor))
// The results are those of sliceLayout(src, axis), valid in all of its lanes and warps.
#pragma once

#include "compiler/layout/Swizzle.h"

namespace nereid::layout {

struct ReductionStep {
  uint32_t laneXor = 0;
  uint32_t partialXor = 0; ///< 0 unless registers and lanes share bits of the axis
};

/// An operand's buffer in the exchange.
struct ExchangeBuffer {
  uint32_t byteOffset = 0;
  SharedPlan plan; ///< a single repetition; stores and loads all partials
};

/// Combines partials of different warps through shared memory. A thread reads up to eight partials of a result; if
/// there are more, lanes that hold copies of the result read a share each and combine them by further butterflies.
struct ReductionExchange {
  std::vector<ExchangeBuffer> operands;
  unsigned fanIn = 1; ///< partials of one result that a thread reads
  llvm::SmallVector<ReductionStep, 5> laneSteps;
};

struct ReductionPlan {
  /// The layout of the result.
  LinearLayout result;
  /// Source registers of each partial, by increasing coordinate along the axis; copies are dropped.
  std::vector<llvm::SmallVector<uint32_t, 8>> groups;
  llvm::SmallVector<ReductionStep, 5> laneSteps;
  bool crossesWarps = false;
  /// Without exchange: the partial for each result register.
  llvm::SmallVector<uint32_t, 16> resultPartial;
  ReductionExchange exchange;                                   ///< where crossesWarps
  uint32_t bytes = 0;                                           ///< of shared memory
  unsigned numBarriers() const { return crossesWarps ? 1 : 0; } ///< inside; none before or after
};

/// `src` is surjective, as all layouts of tiles are; `operandBits` are the element widths of the reduction's operands.
/// The combination is assumed to be associative and commutative.
ReductionPlan planReduction(const LinearLayout &src, unsigned axis, llvm::ArrayRef<unsigned> operandBits,
                            const BankModel &banks = {});

} // namespace nereid::layout
