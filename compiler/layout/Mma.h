// Builds the layouts of operands and accumulators of matrix instructions (mma, wgmma).
// SPDX-License-Identifier: MIT
//
// An instruction's accumulator has 16 rows and 8 columns. With g = lane / 4 and t = lane % 4, a lane holds columns 2t
// and 2t + 1 of rows g and g + 8. A lane holds vectors of kWidth elements along k of the operands, from t * kWidth and
// from (t + 4) * kWidth, of row g and, on the left, g + 8. (PTX ISA, fragments of mma.m16n8k16 and similar.)
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

inline constexpr unsigned kMmaRows = 16, kMmaColumns = 8;
/// Adjacent lanes along k.
inline constexpr unsigned kMmaLanesAlongK = 4;

/// The accumulator of a tile of [batch...,] m x n distributed over `warpsPerCta`, whose last dim runs fastest.
LinearLayout mmaAccumulator(llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape);

/// The operand (0: left, [batch...,] m x k; 1: right, [batch...,] k x n) for that accumulator. All warps of a row (a
/// column) hold the same elements. Where k is smaller than the instruction's, lanes hold copies along k.
LinearLayout mmaOperand(unsigned operand, unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta,
                        llvm::ArrayRef<int64_t> shape);

/// Warps of a warp group, stacked along m.
inline constexpr unsigned kWarpsPerWarpGroup = 4, kWarpGroupRows = kWarpsPerWarpGroup * kMmaRows;
/// The widest accumulator of a wgmma instruction.
inline constexpr unsigned kMaxWarpGroupColumns = 256;

/// The accumulator of wgmma instructions with `columns` columns, for a tile of m x n that all warps together cover at
/// least once; the first dim of `warpsPerCta` runs fastest.
LinearLayout warpGroupAccumulator(unsigned columns, llvm::ArrayRef<unsigned> warpsPerCta,
                                  llvm::ArrayRef<int64_t> shape);
/// The left operand of wgmma, if in registers.
LinearLayout warpGroupOperand(unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape);

/// The lane bits whose step along k lies beyond an extent of k: lanes with one of them set hold copies.
uint32_t mmaLanesBeyond(unsigned kWidth, int64_t extent);

/// The operand of a dot in which every thread computes its own elements: the rows (columns) that `accumulator`, the
/// layout of a tile with extent 1 along the dim that the operand lacks, gives the thread, and all of k.
LinearLayout fmaOperand(const LinearLayout &accumulator, unsigned operand, int64_t extent);

} // namespace nereid::layout
