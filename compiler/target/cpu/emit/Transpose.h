// Emits copies of a matrix from one buffer to another in a different order: transposed, or with rows interleaved.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

struct Transposition {
  llvm::Value *from = nullptr, *to = nullptr;
  int64_t rows = 1, columns = 1; ///< of the source
  mlir::Type element;
  llvm::Value *rowStride = nullptr; ///< of the source, in bytes; null: its rows are adjacent
};

void emitTranspose(EmitContext &context, Transposition work);
/// Interleaves the elements of `group` rows, two or four: [rows, columns] becomes [rows / group, columns, group].
void emitGrouping(EmitContext &context, const Transposition &work, unsigned group);

void emitPrefetch(llvm::IRBuilder<> &ir, llvm::Value *address, bool isWrite);

} // namespace nereid::cpu
