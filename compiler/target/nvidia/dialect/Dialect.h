// The `ttng` dialect: features of NVIDIA GPUs beyond the threads and shared memory of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/ElementType.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttng {

/// Whether there is a wgmma instruction for elements `a` and `b` with an accumulator of type `sum`.
bool hasWgmmaInstruction(mlir::Type a, mlir::Type b, mlir::Type sum, tt::InputPrecision precision);
/// K of one instruction on elements of so many bits: 32 bytes.
constexpr unsigned wgmmaDepth(unsigned elemBits) { return 256 / elemBits; }
/// Whether wgmma reads operands of so many bits in either major order; others must be K-major.
constexpr bool readsEitherWay(unsigned elemBits) { return elemBits == 16; }

/// PTX ISA, tensor maps: the largest extent of a box.
inline constexpr int64_t kMostBoxElems = 256;
/// The alignment of a tensor map's base and strides, and the minimal size of its rows.
inline constexpr int64_t kTensorMapAlignBytes = 16;
/// The widest swizzle that rows of so many elements fill, 0 where they fill none; a TMA box is one panel wide.
constexpr unsigned swizzleFor(uint64_t elements, unsigned elementBits) {
  const uint64_t rowBytes = artifact::bytesOfBits(elements * elementBits);
  return rowBytes >= 128 ? 128 : rowBytes >= 64 ? 64 : rowBytes >= 32 ? 32 : 0;
}
/// What one copy through a tensor map moves, and how it lies in shared memory.
struct MapShape {
  llvm::SmallVector<int64_t, 5> box; ///< slowest dimension first
  unsigned swizzleBytes = 0;
};
/// The map of blocks of such a type. Its encoding is the buffers', or, where there is none, the widest swizzle with all
/// dimensions but the last as rows.
MapShape mapShapeOf(mlir::RankedTensorType block);
/// Whether TMA has this combination of elements, integers with their sign, and so has the language.
bool combinesByTma(tt::DescriptorReduceKind kind, mlir::Type element);
/// The type of the buffer in which TMA writes or reads a tile's rows.
ttg::MemDescType tileBuffer(mlir::RankedTensorType tile, bool isMutable);
/// The type of a buffer of `count` barriers, each of which is a view of it; with 0, the type of one such view.
ttg::MemDescType barrierType(mlir::MLIRContext *context, unsigned count);

/// An attribute of modules whose kernel's tiles are split over the CTAs of its cluster: what is split, as text. Without
/// it the first CTA runs the program alone.
inline constexpr llvm::StringLiteral kClusterSplit = "ttng.cluster_split";
bool isSplitOverCluster(mlir::Operation *op);

} // namespace nereid::ttng

#include "compiler/target/nvidia/dialect/Dialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/target/nvidia/dialect/Ops.h.inc"
