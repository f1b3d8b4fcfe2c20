// Emits copies of a matrix from one buffer to another in a different order: transposed, or with rows interleaved.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/KernelEmitter.h"

namespace nereid::cpu {

struct Transposition {
  llvm::Value *from = nullptr, *to = nullptr;
  int64_t rows = 1, columns = 1; ///< of the source
  mlir::Type element;
  llvm::Value *rowStride = nullptr; ///< of the source, in bytes; null: its rows are adjacent
};

void emitTranspose(KernelEmitter &function, Transposition work);
/// Interleaves the elements of `group` rows, two or four: [rows, columns] becomes [rows / group, columns, group].
void emitGrouping(KernelEmitter &function, const Transposition &work, unsigned group);

void emitPrefetch(llvm::IRBuilder<> &ir, llvm::Value *address, bool isWrite);

/// Runs `body` where the condition holds, at the insert point.
void emitConditional(llvm::IRBuilder<> &ir, llvm::Value *condition, llvm::function_ref<void()> body);
/// for (index = 0; index < end; index += step) at the insert point; no loop where there is one iteration.
void emitCounted(llvm::IRBuilder<> &ir, int64_t end, int64_t step, llvm::function_ref<void(llvm::Value *)> body);
/// The same, but the loop ends before `limit`, too, which may be null; the first iteration runs in any case.
void emitCounted(llvm::IRBuilder<> &ir, int64_t end, llvm::Value *limit, int64_t step,
                 llvm::function_ref<void(llvm::Value *)> body);

} // namespace nereid::cpu
