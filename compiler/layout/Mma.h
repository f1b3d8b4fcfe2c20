// The layouts of tiles that matrix instructions of a warp multiply and accumulate.
// SPDX-License-Identifier: MIT
//
// An instruction's accumulator has 16 rows and 8 columns. With g = lane / 4 and t = lane % 4, a lane holds columns
// 2t and 2t + 1 of rows g and g + 8. Of the operands a lane holds runs of kWidth elements along k, from t * kWidth and
// from (t + 4) * kWidth, of row g and, on the left, g + 8. (PTX ISA, fragments of mma.m16n8k16 and its like.)
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

inline constexpr unsigned kMmaRows = 16, kMmaColumns = 8;
/// Lanes side by side along k.
inline constexpr unsigned kMmaLanesAlongK = 4;

/// A tile of [batch...,] m x n spread over `warpsPerCta`, whose last dim runs fastest.
LinearLayout mmaAccumulator(llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape);

/// The operand (0: left, [batch...,] m x k; 1: right, [batch...,] k x n) of that accumulator. All warps of a row (a
/// column) hold the same elements. Where k is smaller than the instruction's, lanes hold copies along k.
LinearLayout mmaOperand(unsigned operand, unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta,
                        llvm::ArrayRef<int64_t> shape);

/// Warps that multiply together, one below the other.
inline constexpr unsigned kWarpsPerWarpGroup = 4, kWarpGroupRows = kWarpsPerWarpGroup * kMmaRows;
/// The widest accumulator of a group's instruction.
inline constexpr unsigned kMaxWarpGroupColumns = 256;

/// The same of instructions of warp groups, whose accumulators have `columns` columns: a tile of m x n, m and n a box
/// of all warps at least; the first dim of `warpsPerCta` runs fastest.
LinearLayout warpGroupAccumulator(unsigned columns, llvm::ArrayRef<unsigned> warpsPerCta,
                                  llvm::ArrayRef<int64_t> shape);
/// Their left operand where threads hold it.
LinearLayout warpGroupOperand(unsigned kWidth, llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<int64_t> shape);

/// The lane bits whose step along k lies beyond an extent of k: lanes that have one hold copies.
uint32_t mmaLanesBeyond(unsigned kWidth, int64_t extent);

/// The operand of a product in which every thread computes elements of its own: the rows (columns) that `accumulator`,
/// the layout of a tile with extent 1 along the dim that the operand lacks, gives the thread, and all of k.
LinearLayout fmaOperand(const LinearLayout &accumulator, unsigned operand, int64_t extent);

} // namespace nereid::layout
