// Reads a buffer in shared memory access by access.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

namespace nereid::lowering {

class SharedReader {
public:
  /// `side` outlives the reader.
  SharedReader(FunctionEmitter &emitter, llvm::Value *buffer, const layout::SharedSide &side, mlir::Type element);

  /// Accesses from here on lie at their offset ^ `bits`, which has none but those of `mask`; both in elements.
  void move(llvm::Value *bits, uint32_t mask);
  /// Sets the registers of the access.
  void read(const layout::SharedAccess &access, llvm::MutableArrayRef<llvm::Value *> registers);

private:
  FunctionEmitter &emitter;
  const layout::SharedSide &side;
  mlir::Type element;
  unsigned bytes;
  llvm::Value *buffer, *thread, *begin;
  uint32_t moved = 0;
};

/// How a tile's registers reach a buffer one by one.
layout::SharedSide reachOf(mlir::RankedTensorType tile, ttg::MemDescType buffer);

} // namespace nereid::lowering
