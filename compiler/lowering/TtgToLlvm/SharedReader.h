// Reads a shared-memory buffer access by access.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

namespace nereid::lowering {

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
  llvm::Value *buffer, *thread, *begin;
  uint32_t moved = 0;
};

/// The access pattern of a tile's registers in a buffer, one by one.
layout::SharedAccessPattern accessPatternOf(mlir::RankedTensorType tile, ttg::MemDescType buffer);

} // namespace nereid::lowering
