// Addresses and accesses of tiles in shared memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

layout::LinearLayout bufferLayoutOf(ttg::MemDescType buffer);
unsigned elementBytesOf(ttg::MemDescType buffer);
/// The access pattern of a tile's registers in a buffer, one by one.
layout::SharedAccessPattern accessPatternOf(mlir::RankedTensorType tile, ttg::MemDescType buffer);

/// The addresses of a pattern's accesses: a part per thread, and the access's own part, as an immediate where possible.
class SharedAddresses {
public:
  SharedAddresses(TtgFunctionEmitter &emitter, llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
                  unsigned elementBytes);
  /// A pointer and an offset from it in bytes.
  std::pair<llvm::Value *, int64_t> of(const layout::SharedAccessPattern &pattern,
                                       const layout::SharedAccess &access) const {
    return of(access, pattern.isImmediate(access));
  }
  std::pair<llvm::Value *, int64_t> of(const layout::SharedAccess &access, bool isImmediate) const;
  /// Later accesses use their offset ^ `bits`, in elements.
  void move(llvm::Value *bits);

private:
  IrBuilder &ir;
  llvm::Value *buffer, *threadPart, *begin;
  unsigned elementBytes;
};

/// How a thread's vectors are copied, each by one instruction.
layout::SharedAccessPattern copyPatternOf(TtgFunctionEmitter &emitter, ttg::AsyncCopyGlobalToLocalOp op);

/// Reads a buffer access by access.
class SharedReader {
public:
  /// `pattern` outlives the reader.
  SharedReader(TtgFunctionEmitter &emitter, llvm::Value *buffer, const layout::SharedAccessPattern &pattern,
               mlir::Type element);

  /// Later accesses use their offset ^ `bits`, where `bits` is a subset of `mask`; both in elements.
  void move(llvm::Value *bits, uint32_t mask);
  /// Sets the registers of the access.
  void read(const layout::SharedAccess &access, llvm::MutableArrayRef<llvm::Value *> registers);

private:
  TtgFunctionEmitter &emitter;
  const layout::SharedAccessPattern &pattern;
  mlir::Type element;
  unsigned bytes;
  SharedAddresses addresses;
  uint32_t moved = 0;
};

} // namespace nereid::lowering
