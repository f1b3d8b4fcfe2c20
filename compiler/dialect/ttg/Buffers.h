// Shapes, layouts and views of buffers in shared memory.
// SPDX-License-Identifier: MIT
//
// An encoding lays out the last dimensions of a buffer; those in front count buffers that follow one another. A part is
// a buffer that `memdesc_subslice` has cut from a larger one along a dimension that is laid out.
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Padding.h"

namespace nereid::ttg {

/// The extents that the encoding lays out, of the buffer and of the allocation that it is a part of.
llvm::ArrayRef<int64_t> laidOutShape(MemDescType buffer);
llvm::ArrayRef<int64_t> laidOutAllocation(MemDescType buffer);
bool isPartOfBuffer(MemDescType buffer);

/// offset, block -> element of the allocation. Gaps are not counted.
layout::LinearLayout layoutOf(MemDescType buffer);
/// Gaps, in elements.
layout::Padding paddingOf(MemDescType buffer);
/// Elements, gaps included, from one to the next of buffers that follow one another.
uint64_t strideOf(MemDescType buffer);
/// Bytes of the allocation in one CTA.
uint64_t allocationBytes(MemDescType buffer);
/// Bytes to which the allocation is aligned.
uint32_t alignmentOf(MemDescType buffer);

/// The bytes that a part of an allocation has for itself, with its first element: the largest power of two to which
/// they are aligned.
uint64_t adjacentBytes(MemDescType part);

using ReportError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// The type of the buffer with its dimensions in another order, or in another shape.
mlir::FailureOr<MemDescType> transposedBuffer(ReportError emitError, MemDescType buffer, llvm::ArrayRef<int32_t> order);
mlir::FailureOr<MemDescType> reshapedBuffer(ReportError emitError, MemDescType buffer, llvm::ArrayRef<int64_t> shape);

} // namespace nereid::ttg
