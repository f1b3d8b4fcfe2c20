// Builds layouts of tiles held by the threads of a CTA: blocked layouts, slices of them, and layouts fitted to a shape.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

/// "dim0", "dim1" ...
std::string dimName(unsigned dim);

/// Each thread holds a box of `sizePerThread`, a warp has `threadsPerWarp` of these boxes and a CTA has `warpsPerCta`
/// warps; `order` lists dims from the fastest. Inputs are register, lane, warp and an empty block; outputs dim0, dim1
/// ... Coordinates beyond `shape` wrap around, so that bits become copies (zero bases, also of registers); a larger
/// shape is covered by more registers, fastest dim first. All extents are powers of two.
LinearLayout blockedLayout(llvm::ArrayRef<unsigned> sizePerThread, llvm::ArrayRef<unsigned> threadsPerWarp,
                           llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<unsigned> order,
                           llvm::ArrayRef<int64_t> shape);

/// Fits a layout with outputs dim0, dim1 ... to `shape` by the same rule; `order` lists dims from the fastest.
LinearLayout fitToShape(const LinearLayout &layout, llvm::ArrayRef<unsigned> order, llvm::ArrayRef<int64_t> shape);

/// The parent without dimension `dim`; later dims move down by one. Registers that became copies are dropped; lanes and
/// warps keep their copies.
LinearLayout sliceLayout(const LinearLayout &parent, unsigned dim);

} // namespace nereid::layout
