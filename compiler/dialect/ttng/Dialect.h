// The `ttng` dialect: what NVIDIA's GPUs have beyond the threads and shared memory of `ttg`.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/AsyncTraits.h"
#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttg {

/// On a module: bytes of global memory that each program has for itself, and what they begin at a multiple of.
inline constexpr llvm::StringLiteral kScratchBytes = "ttg.global_scratch_memory_size",
                                     kScratchAlignment = "ttg.global_scratch_memory_alignment";

} // namespace nereid::ttg

namespace nereid::ttng {

/// Whether warp groups have an instruction for products of elements `a` and `b` with sums of type `sum`.
bool hasWgmmaInstruction(mlir::Type a, mlir::Type b, mlir::Type sum, tt::InputPrecision precision);
/// The depth of an instruction on elements of so many bits: 32 bytes.
constexpr unsigned wgmmaDepth(unsigned elemBits) { return 256 / elemBits; }
/// Whether the instructions read elements of so many bits along either dimension, not along K alone.
constexpr bool readsEitherWay(unsigned elemBits) { return elemBits == 16; }

/// The widest swizzle that rows of so many bytes fill; the copy engine's boxes are one panel wide.
constexpr unsigned swizzleFor(int64_t rowBytes) {
  return rowBytes >= 128 ? 128 : rowBytes >= 64 ? 64 : rowBytes >= 32 ? 32 : 0;
}
/// The buffer in which the copy engine writes or reads a tile's rows.
ttg::MemDescType tileBuffer(mlir::RankedTensorType tile, bool isMutable);
/// A buffer of so many barriers, each of which is a view of it; 0: one of these.
ttg::MemDescType barrierType(mlir::MLIRContext *context, unsigned count);

} // namespace nereid::ttng

#include "compiler/dialect/ttng/Dialect.h.inc"

#define GET_OP_CLASSES
#include "compiler/dialect/ttng/Ops.h.inc"
