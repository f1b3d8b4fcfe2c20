// Emits a dot of matrices of bf16 or bytes with the matrix tiles of AMX.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/IR/IRBuilder.h"

#include <variant>

namespace nereid::cpu {

struct AmxOperands {
  llvm::Value *a = nullptr, *b = nullptr;
  llvm::Value *rowBytes = nullptr; ///< stride of rows of `a`
};

/// Pairs of operands in memory, whose products are added.
struct AmxOperandList {
  llvm::Value *first = nullptr; ///< the address
  llvm::Value *count = nullptr; ///< at least one
  unsigned most = 0;

  static llvm::ArrayType *typeOf(llvm::LLVMContext &context, unsigned most);
  void store(llvm::IRBuilder<> &ir, const AmxOperands &operands, llvm::Value *index) const;
  AmxOperands load(llvm::IRBuilder<> &ir, llvm::Value *index) const;
};

using AnyAmxOperands = std::variant<AmxOperands, AmxOperandList>;

/// d[rows, columns] of f32 += a[rows, depth] * b[depth, columns] of pairs of bf16, or of i32 and four bytes; `b` and
/// `d` are dense.
struct AmxDot {
  AnyAmxOperands operands;
  llvm::Value *d = nullptr;
  int64_t rows = 16, columns = 16, depth = 16; ///< multiples of 16
  bool startsAtZero = false;
  bool ofBytes = false;
  llvm::Value *endOfRows = nullptr, *endOfColumns = nullptr; ///< of what is used of `d`; null: all
};

/// Configures the tile registers, before the first dot of a call of a kernel, and gives them back after the last one.
void emitBeginOfTiles(llvm::IRBuilder<> &ir);
void emitEndOfTiles(llvm::IRBuilder<> &ir);
void emitAmx(llvm::IRBuilder<> &ir, const AmxDot &work);

} // namespace nereid::cpu
