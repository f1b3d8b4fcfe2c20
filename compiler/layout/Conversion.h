// How a tile changes its layout: nothing, renamed registers, shuffles inside warps, or a buffer in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Shuffle.h"
#include "compiler/layout/Swizzle.h"

namespace nereid::layout {

enum class ConversionKind : uint8_t {
  None,      ///< register i stays register i
  Registers, ///< elements stay in their thread
  Shuffle,   ///< elements stay in their warp
  Shared,    ///< elements change warps, or shuffles would cost more
};

struct ConversionPlan {
  ConversionKind kind = ConversionKind::None;
  /// None, Registers: the source register of each destination register.
  llvm::SmallVector<uint32_t, 16> sourceRegister;
  ShufflePlan shuffle; ///< Shuffle
  SharedPlan shared;   ///< Shared

  /// Bytes of shared memory that the conversion needs.
  uint32_t sharedBytes() const { return kind == ConversionKind::Shared ? shared.bytes : 0; }
};

/// Layouts of one tile held by one block: inputs register, lane, warp (and a block without bits), the same outputs,
/// surjective. Equal arguments give equal plans.
ConversionPlan planConversion(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                              const SwizzleOptions &options = {});

/// A layout of as many threads whose conversions from `src` and to `dst` leave directions that no thread bit of either
/// side moves, for repetitions: half of its threads' directions are those of one side, half those of the other.
LinearLayout intermediateLayout(const LinearLayout &src, const LinearLayout &dst);

/// Issue slots of a warp, as far as they decide between shuffles and shared memory.
unsigned costOf(const ShufflePlan &plan, unsigned elemBits);
unsigned costOf(const SharedPlan &plan);

} // namespace nereid::layout
