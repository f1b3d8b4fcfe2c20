// Addresses and accesses of tiles in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Buffers.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

unsigned elementBytesOf(ttg::MemDescType buffer);
/// The access pattern of a tile's registers in a buffer.
layout::SharedAccessPattern accessPatternOf(mlir::RankedTensorType tile, ttg::MemDescType buffer,
                                            unsigned maxElems = ~0u,
                                            layout::RegisterOrder order = layout::RegisterOrder::Free);
/// The pattern of ldmatrix or stmatrix; nothing where rows of 16 bytes are not in the instruction's order.
std::optional<layout::SharedAccessPattern> matrixPatternOf(mlir::RankedTensorType tile, ttg::MemDescType buffer);
/// `layout`, of a tile, as one of elements of the allocation that the tile's buffer is a part of.
layout::LinearLayout inAllocation(const layout::LinearLayout &layout, ttg::MemDescType buffer);
/// Bits that the offset of a part's first element may have.
uint32_t partMaskOf(ttg::MemDescType buffer);
/// The address of the allocation that a buffer is a part of.
llvm::Value *allocationAddress(TtgFunctionEmitter &emitter, const BufferAddress &buffer, const layout::Padding &padding,
                               unsigned elementBytes);
/// An offset in bytes with the gaps before it; `padding` is in bytes.
llvm::Value *withGaps(IrBuilder &ir, llvm::Value *offset, const layout::Padding &padding);

/// The addresses of a pattern's accesses: an offset per thread ^ the access's own. The bits of the latter that no
/// thread's offset has are an immediate, so that few pointers serve all accesses.
class SharedAddresses {
public:
  SharedAddresses(TtgFunctionEmitter &emitter, const BufferAddress &buffer, const layout::SharedAccessPattern &pattern,
                  unsigned elementBytes);
  /// A pointer and an offset from it in bytes.
  std::pair<llvm::Value *, int64_t> of(const layout::SharedAccess &access) const;
  /// Later accesses use their offset ^ `bits`, where `bits` is a subset of `mask`; both in elements.
  void move(llvm::Value *bits, uint32_t mask);
  /// Later accesses share no computation of addresses with those before, whose registers are then free.
  void rematerialise();

private:
  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  layout::Padding padding; ///< in bytes
  llvm::Value *buffer, *threadPart, *begin;
  unsigned elementBytes;
  uint32_t constantPart = 0;      ///< in elements
  uint32_t threadMask, beginMask; ///< bits that these may have, in elements
};

/// The address of the element in a register of a tile of pointers, where the op is marked as having this form
/// (Memory.cpp).
BoundedAddress boundedAddress(TtgFunctionEmitter &emitter, mlir::Operation *op, mlir::Value pointer, unsigned index);

/// How a thread's vectors are copied, each by one instruction.
layout::SharedAccessPattern copyPatternOf(ttg::AsyncCopyGlobalToLocalOp op, const index::AxisInfoAnalysis &axes);

/// Moves the elements of `registers` to those of the op's result, round by round through the op's shared memory.
Tile passThroughShared(TtgFunctionEmitter &emitter, mlir::Operation *op, const layout::SharedPlan &plan,
                       llvm::ArrayRef<llvm::Value *> registers);

/// Reads a buffer access by access.
class SharedReader {
public:
  /// `pattern` outlives the reader.
  SharedReader(TtgFunctionEmitter &emitter, const BufferAddress &buffer, const layout::SharedAccessPattern &pattern,
               mlir::Type element);

  void move(llvm::Value *bits, uint32_t mask) { addresses.move(bits, mask); }
  void rematerialiseAddresses() { addresses.rematerialise(); }
  /// Sets the registers of the access.
  void read(const layout::SharedAccess &access, llvm::MutableArrayRef<llvm::Value *> registers);

private:
  TtgFunctionEmitter &emitter;
  const layout::SharedAccessPattern &pattern;
  mlir::Type element;
  unsigned bytes;
  SharedAddresses addresses;
};

} // namespace nereid::lowering
