// Plans how a tile changes its layout: not at all, by register renames, by warp shuffles, or through shared memory.
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
  /// The source register of each destination register, of the kinds None and Registers.
  llvm::SmallVector<uint32_t, 16> sourceRegister;
  ShufflePlan shuffle; ///< Shuffle
  SharedPlan shared;   ///< Shared

  /// Bytes of shared memory that the conversion needs.
  uint32_t sharedBytes() const { return kind == ConversionKind::Shared ? shared.bytes : 0; }
};

/// Layouts of one tile held by one CTA: inputs register, lane, warp (and a block without bits), equal outputs,
/// surjective. Equal arguments give equal plans.
ConversionPlan planConversion(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                              const SwizzleOptions &options = {});

/// Whether every warp holds the same elements in both layouts, and no other warp does.
bool staysInWarps(const LinearLayout &src, const LinearLayout &dst);

/// A plan through shared memory in which stores, or loads, are of matrices of the given form; nothing where the layouts
/// do not allow it.
std::optional<SharedPlan> swizzleForMatrices(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits,
                                             bool isStore, MatrixForm form, SwizzleOptions options);

/// A layout with as many threads, chosen so that conversions from `src` and to `dst` leave directions along which no
/// thread bit of either layout moves, for repetitions: half of its thread directions are those of `src`, half those of
/// `dst`.
LinearLayout intermediateLayout(const LinearLayout &src, const LinearLayout &dst);

/// Issue slots of a warp, as needed to choose between shuffles and shared memory.
unsigned costOf(const ShufflePlan &plan, unsigned elemBits);
unsigned costOf(const SharedPlan &plan);

} // namespace nereid::layout
