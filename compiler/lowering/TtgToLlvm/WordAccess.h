// Joins the words of an access to one value, for LLVM's own loads and stores.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"

namespace nereid::lowering {

/// The type of `count` words in one value: a vector, or for one word the word.
llvm::Type *wholeType(llvm::Type *word, unsigned count);
/// Of an access to so many words.
llvm::Align alignmentOf(llvm::Type *word, unsigned count);

llvm::SmallVector<llvm::Value *, 4> splitWords(IrBuilder &ir, llvm::Value *whole);
llvm::Value *joinWords(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words);

} // namespace nereid::lowering
