// Builds calls of inline assembly whose operands are lists of registers.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <string>

namespace nereid::sim {

using Words = llvm::SmallVector<llvm::Value *>;

/// The value in words of 32 bits, the lowest first; the last one is filled with zeros.
Words wordsOf(llvm::IRBuilder<> &ir, llvm::Value *value);
/// A value of that type of its words.
llvm::Value *fromWords(llvm::IRBuilder<> &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Type *type);

enum class Effects : uint8_t {
  Pure,
  Lanes,  ///< depends on which lanes execute it
  Memory, ///< reads or writes memory, or orders accesses
};

/// `opcode d, {a, b}, 3;`: operands in the order of the calls.
class InlineAssembly {
public:
  InlineAssembly(llvm::IRBuilder<> &ir, std::string opcode) : ir(ir), text(std::move(opcode)) {}

  /// The results come before all sources; types of 32 or 64 bits.
  InlineAssembly &results(llvm::Type *type, unsigned count, bool isList = false);
  InlineAssembly &source(llvm::Value *value);
  InlineAssembly &sources(llvm::ArrayRef<llvm::Value *> values);
  InlineAssembly &immediate(uint64_t value);
  Words call(Effects effects);

private:
  void separate();
  std::string operand(llvm::Type *type, bool isResult);

  llvm::IRBuilder<> &ir;
  std::string text, constraints;
  bool hasOperands = false;
  unsigned number = 0;
  llvm::SmallVector<llvm::Type *> resultTypes;
  Words values;
};

} // namespace nereid::sim
