// Joins the words of an access to one value, for LLVM's own loads and stores.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/WordAccess.h"

using namespace nereid;

llvm::Type *lowering::wholeType(llvm::Type *word, unsigned count) {
  return count == 1 ? word : llvm::FixedVectorType::get(word, count);
}

llvm::Align lowering::alignmentOf(llvm::Type *word, unsigned count) {
  return llvm::Align(word->getIntegerBitWidth() / 8 * count);
}

llvm::SmallVector<llvm::Value *, 4> lowering::splitWords(IrBuilder &ir, llvm::Value *whole) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(whole->getType());
  if (!vector)
    return {whole};
  llvm::SmallVector<llvm::Value *, 4> words;
  for (unsigned index = 0; index < vector->getNumElements(); ++index)
    words.push_back(ir.CreateExtractElement(whole, uint64_t{index}));
  return words;
}

llvm::Value *lowering::joinWords(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words) {
  if (words.size() == 1)
    return words.front();
  llvm::Value *whole = llvm::PoisonValue::get(wholeType(words.front()->getType(), words.size()));
  for (auto [index, word] : llvm::enumerate(words))
    whole = ir.CreateInsertElement(whole, word, uint64_t{index});
  return whole;
}
