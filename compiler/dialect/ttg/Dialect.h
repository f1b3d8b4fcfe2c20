// The `ttg` dialect: encodings of tiles, buffers in shared memory, and their ops.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/ttg/LayoutRelation.h"
#include "compiler/layout/AmdMatrix.h"
#include "compiler/layout/Layout.h"
#include "compiler/layout/Padding.h"

#include "mlir/IR/TensorEncoding.h"

namespace nereid::ttg {

/// The memory resource of ops on shared memory.
struct SharedMemory : mlir::SideEffects::Resource::Base<SharedMemory> {
  llvm::StringRef getName() final { return "<SharedMemory>"; }
};

/// Marks ops whose result is a view of the buffer that is their first operand.
template <typename ConcreteOp> struct MemDescView : mlir::OpTrait::TraitBase<ConcreteOp, MemDescView> {};

/// Names of the attributes of a module.
inline constexpr llvm::StringLiteral kNumWarps = "ttg.num-warps", kTotalWarps = "ttg.total-num-warps",
                                     kThreadsPerWarp = "ttg.threads-per-warp", kNumCtas = "ttg.num-ctas",
                                     kTarget = "ttg.target", kShared = "ttg.shared", kMaxRegisters = "ttg.maxnreg";
/// Bytes of global scratch memory of each program, and the alignment of each program's part.
inline constexpr llvm::StringLiteral kScratchBytes = "ttg.global_scratch_memory_size",
                                     kScratchAlignment = "ttg.global_scratch_memory_alignment";
/// Marks a load or store whose pointer is `tt.addptr` of a `tt.splat` and an i32 tile, where the offset in bytes is not
/// negative and below 2^31 wherever the mask is true.
inline constexpr llvm::StringLiteral kBoundedOffset = "ttg.bounded_offset";

} // namespace nereid::ttg

#include "compiler/dialect/ttg/AttrInterfaces.h.inc"
#include "compiler/dialect/ttg/Dialect.h.inc"
#include "compiler/dialect/ttg/Enums.h.inc"
#include "compiler/dialect/ttg/Interfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "compiler/dialect/ttg/Attrs.h.inc"
#define GET_TYPEDEF_CLASSES
#include "compiler/dialect/ttg/Types.h.inc"

namespace nereid::ttg {
class LocalAllocOp;

/// The linear layout of a tile's encoding; computed once per type and context, valid as long as the context.
const layout::LinearLayout &linearLayoutOf(mlir::RankedTensorType type);
/// Bits that elements of each tile take in memory.
llvm::SmallVector<unsigned> elementBitsOf(mlir::ValueRange tiles);
/// The encoding of a tile; null where it has none.
LayoutEncoding encodingOf(mlir::Type type);
/// Whether an encoding is that of a matrix instruction's accumulator.
bool isMatrixInstruction(mlir::Attribute encoding);
/// Whether two encodings give a tile of `shape` the same threads and registers.
bool areEquivalent(LayoutEncoding a, LayoutEncoding b, llvm::ArrayRef<int64_t> shape);

/// `layout` as a blocked encoding where one equals it for `shape`, else as a linear one.
LayoutEncoding encodingFor(mlir::MLIRContext *context, const layout::LinearLayout &layout,
                           llvm::ArrayRef<int64_t> shape);

/// The default blocked encoding of a tile of `shape`: lanes, then warps, along `order` from the fastest dimension on.
/// Extents and counts are powers of two. Warps may be spread along another order of the dimensions.
BlockedAttr defaultBlocked(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<unsigned> sizePerThread, llvm::ArrayRef<unsigned> order, unsigned numWarps,
                           unsigned threadsPerWarp, llvm::ArrayRef<unsigned> warpOrder = {});

/// The registers that the threads of a CTA share.
inline constexpr unsigned kRegistersOfCta = 65536;

/// The region of a `warp_specialize` that contains `op`; null where there is none.
mlir::Region *warpRegionOf(mlir::Operation *op);
/// The warps that run `op`: those of its partition, or of the module. The defaults are 4 warps of 32 threads.
unsigned numWarpsOf(mlir::Operation *op);
/// All warps of a program, those of partitions included.
unsigned totalWarpsOf(mlir::Operation *op);
unsigned threadsPerWarpOf(mlir::Operation *op);
unsigned numCtasOf(mlir::Operation *op);

/// The allocation that a buffer is a view of; null where it may be one of several.
LocalAllocOp allocationOf(mlir::Value buffer);

// The result encodings of `tt`'s shape ops for given operands; null where there is none.
LayoutEncoding inferExpanded(LayoutEncoding source, llvm::ArrayRef<int64_t> shape, unsigned axis);
LayoutEncoding inferTransposed(LayoutEncoding source, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int32_t> order);
LayoutEncoding inferReshaped(LayoutEncoding source, llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);

} // namespace nereid::ttg

#define GET_OP_CLASSES
#include "compiler/dialect/ttg/Ops.h.inc"
