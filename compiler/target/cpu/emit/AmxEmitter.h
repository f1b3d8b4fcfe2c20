// Emits a dot of bf16 matrices with the matrix tiles of AMX.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/KernelEmitter.h"

namespace nereid::cpu {

/// d[rows, columns] of f32 += a[rows, depth] * b[depth, columns] of pairs of bf16; all dense.
struct AmxDot {
  llvm::Value *a = nullptr, *b = nullptr, *d = nullptr;
  int64_t rows = 16, columns = 16, depth = 16; ///< multiples of 16
  bool startsAtZero = false;
};

void emitAmx(KernelEmitter &function, const AmxDot &work);

} // namespace nereid::cpu
