// Packs elements narrower than 32 bits into words around a call of inline assembly.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/InlineAsm.h"

#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"
#include "compiler/lowering/asm/AsmText.h"

#include "llvm/IR/InlineAsm.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace nereid;
using lowering::Elements;

namespace {
/// How the elements of one operand or result lie in words.
struct Packing {
  llvm::Type *element;
  unsigned perWord = 1;
  unsigned numWords = 1;
  llvm::Type *word;

  Packing(llvm::IRBuilderBase &ir, llvm::Type *element, unsigned pack) : element(element) {
    const unsigned bits = element->isPointerTy() ? 64 : element->getPrimitiveSizeInBits();
    perWord = bits < 32 && bits >= 8 ? std::min(pack, 32 / bits) : 1;
    numWords = (pack + perWord - 1) / perWord;
    word = perWord == 1 ? element : ir.getIntNTy(perWord * bits);
  }
};
} // namespace

static void packWords(llvm::IRBuilderBase &ir, const Packing &packing, llvm::ArrayRef<llvm::Value *> elements,
                      llvm::SmallVectorImpl<llvm::Value *> &words) {
  if (packing.perWord == 1) {
    words.append(elements.begin(), elements.end());
    return;
  }
  auto *type = llvm::FixedVectorType::get(packing.element, packing.perWord);
  for (unsigned first = 0; first < elements.size(); first += packing.perWord) {
    llvm::Value *vector = llvm::Constant::getNullValue(type);
    for (unsigned index = first; index < std::min<size_t>(first + packing.perWord, elements.size()); ++index)
      vector = ir.CreateInsertElement(vector, elements[index], uint64_t(index - first));
    words.push_back(ir.CreateBitCast(vector, packing.word));
  }
}

static Elements unpackWords(llvm::IRBuilderBase &ir, const Packing &packing, llvm::ArrayRef<llvm::Value *> words,
                            unsigned pack) {
  if (packing.perWord == 1)
    return Elements(words.begin(), words.end());
  auto *type = llvm::FixedVectorType::get(packing.element, packing.perWord);
  Elements elements;
  for (unsigned index = 0; index < pack; ++index) {
    llvm::Value *vector = ir.CreateBitCast(words[index / packing.perWord], type);
    elements.push_back(ir.CreateExtractElement(vector, uint64_t(index % packing.perWord)));
  }
  return elements;
}

llvm::SmallVector<Elements, 2> lowering::emitInlineAsm(llvm::IRBuilderBase &ir, tt::ElementwiseInlineAsmOp op,
                                                       ArrayRef<Elements> operands,
                                                       llvm::function_ref<llvm::Type *(Type)> typeOf, uint64_t cookie) {
  const unsigned pack = op.getPackedElement();
  SmallVector<llvm::Value *> words;
  for (const Elements &elements : operands)
    packWords(ir, Packing(ir, elements.front()->getType(), pack), elements, words);
  SmallVector<Packing, 2> packings;
  SmallVector<llvm::Type *> resultTypes, wordTypes;
  for (Value result : op.getResults()) {
    packings.emplace_back(ir, typeOf(tt::elementOf(result.getType())), pack);
    resultTypes.append(packings.back().numWords, packings.back().word);
  }
  for (llvm::Value *word : words)
    wordTypes.push_back(word->getType());
  const bool isStruct = resultTypes.size() > 1;
  llvm::Type *returned = isStruct ? llvm::StructType::get(ir.getContext(), resultTypes) : resultTypes.front();
  auto *type = llvm::FunctionType::get(returned, wordTypes, false);
  std::optional<std::string> fault;
  const std::string constraints = chooseConstraints(op.getConstraints(), fault);
  if (!fault)
    if (llvm::Error error = llvm::InlineAsm::verify(type, constraints)) {
      tt::report(op.getLoc(), diag::AsmOperands, op.getConstraints(), resultTypes.size(), words.size(),
                 llvm::toString(std::move(error)));
      return {};
    }
  if (!fault)
    fault = findAsmFault(op.getAsmString(), resultTypes.size() + words.size(),
                         ir.GetInsertBlock()->getModule()->getTargetTriple());
  if (fault) {
    tt::report(op.getLoc(), diag::AsmText, *fault);
    return {};
  }
  auto *assembly = llvm::InlineAsm::get(type, op.getAsmString(), constraints, /*hasSideEffects=*/!op.getPure());
  llvm::CallInst *call = ir.CreateCall(assembly, words);
  if (cookie)
    call->setMetadata("srcloc", llvm::MDNode::get(ir.getContext(), llvm::ConstantAsMetadata::get(ir.getInt64(cookie))));
  SmallVector<llvm::Value *> returnedWords;
  for (unsigned index = 0; index < resultTypes.size(); ++index)
    returnedWords.push_back(isStruct ? ir.CreateExtractValue(call, index) : call);
  SmallVector<Elements, 2> results;
  ArrayRef<llvm::Value *> rest = returnedWords;
  for (const Packing &packing : packings) {
    results.push_back(unpackWords(ir, packing, rest.take_front(packing.numWords), pack));
    rest = rest.drop_front(packing.numWords);
  }
  return results;
}
