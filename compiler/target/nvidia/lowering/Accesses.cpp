// Emits memory accesses: LLVM's loads and stores where they suffice, PTX for predicates, cache modifiers and eviction.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/WordAccess.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"
#include "compiler/target/nvidia/lowering/PtxBuilder.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

/// ".cg", ".L1::evict_last" and similar. PTX accepts only one of the two; the eviction policy takes precedence, except
/// over `.cv`, which bypasses caches.
static std::string modifiersOf(const GlobalAccess &access) {
  if (access.cache == tt::CacheModifier::CV)
    return ".cv";
  switch (access.evict) {
  case tt::EvictionPolicy::EVICT_FIRST:
    return ".L1::evict_first";
  case tt::EvictionPolicy::EVICT_LAST:
    return ".L1::evict_last";
  case tt::EvictionPolicy::NORMAL:
    break;
  }
  if (access.cache == tt::CacheModifier::NONE)
    return "";
  return "." + tt::stringifyCacheModifier(access.cache).str();
}

static bool isPlain(const GlobalAccess &access) {
  return !access.mask && access.cache == tt::CacheModifier::NONE && access.evict == tt::EvictionPolicy::NORMAL;
}

static std::string braced(llvm::ArrayRef<std::string> operands) {
  return operands.size() == 1 ? operands.front() : "{" + llvm::join(operands, ", ") + "}";
}

/// "v4.b32"
static std::string typeText(llvm::Type *word, unsigned count) {
  const std::string width = ".b" + std::to_string(word->getIntegerBitWidth());
  return count == 1 ? width : ".v" + std::to_string(count) + width;
}

/// PTX has no registers of 8 bits: such a word uses one of 16.
static llvm::Type *registerType(IrBuilder &ir, llvm::Type *word) {
  return word->isIntegerTy(8) ? ir.getInt16Ty() : word;
}

//--- LLVM's loads and stores ---------------------------------------------------------------

static llvm::SmallVector<llvm::Value *, 4> loadPlain(IrBuilder &ir, const GlobalAccess &access) {
  return splitWords(ir, ir.CreateAlignedLoad(wholeType(access.wordType, access.numWords),
                                             offsetPointer(ir, access.pointer, access.byteOffset),
                                             alignmentOf(access.wordType, access.numWords), access.isVolatile));
}

static void storePlain(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer, int64_t offset) {
  ir.CreateAlignedStore(joinWords(ir, words), offsetPointer(ir, pointer, offset),
                        alignmentOf(words.front()->getType(), words.size()));
}

//--- PTX -----------------------------------------------------------------------------------

llvm::SmallVector<llvm::Value *, 4> NvidiaEmitter::loadGlobal(IrBuilder &ir, const GlobalAccess &access,
                                                              llvm::ArrayRef<llvm::Value *> others) {
  if (isPlain(access))
    return loadPlain(ir, access);
  llvm::Type *type = registerType(ir, access.wordType);
  PtxBuilder assembly(ir);
  llvm::SmallVector<std::string, 4> results;
  for (unsigned index = 0; index < access.numWords; ++index)
    results.push_back(assembly.output(type, /*isEarlyClobber=*/access.mask != nullptr));
  const std::string address = addressText(assembly.input(access.pointer), access.byteOffset);
  std::string text;
  if (access.mask) {
    const std::string predicate = assembly.input(access.mask);
    for (auto [result, other] : llvm::zip_equal(results, others))
      text += "mov.b" + std::to_string(type->getIntegerBitWidth()) + " " + result + ", " +
              assembly.inputOrImmediate(ir.CreateZExt(other, type)) + ";\n\t";
    text += "@" + predicate + " ";
  }
  text += "ld" + std::string(access.isVolatile ? ".volatile" : "") + ".global" +
          (access.isVolatile ? "" : modifiersOf(access)) + typeText(access.wordType, access.numWords) + " " +
          braced(results) + ", " + address + ";";
  const bool readsAnew = access.isVolatile || access.cache == tt::CacheModifier::CV;
  const auto effects =
      readsAnew ? llvm::MemoryEffects::unknown() : llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Ref);
  llvm::SmallVector<llvm::Value *, 4> words = assembly.emit(text, effects);
  for (llvm::Value *&word : words)
    word = ir.CreateTrunc(word, access.wordType);
  return words;
}

static void storeByText(IrBuilder &ir, const std::string &opcode, llvm::ArrayRef<llvm::Value *> words,
                        llvm::Value *pointer, int64_t offset, llvm::Value *mask) {
  llvm::Type *word = words.front()->getType();
  PtxBuilder assembly(ir);
  const std::string address = addressText(assembly.input(pointer), offset);
  const std::string predicate = mask ? "@" + assembly.input(mask) + " " : "";
  llvm::SmallVector<std::string, 4> values;
  for (llvm::Value *value : words)
    values.push_back(assembly.input(ir.CreateZExt(value, registerType(ir, word))));
  const std::string text =
      predicate + opcode + typeText(word, words.size()) + " " + address + ", " + braced(values) + ";";
  assembly.emit(text, llvm::MemoryEffects::argMemOnly(llvm::ModRefInfo::Mod));
}

void NvidiaEmitter::storeGlobal(IrBuilder &ir, const GlobalAccess &access, llvm::ArrayRef<llvm::Value *> words) {
  if (isPlain(access))
    storePlain(ir, words, access.pointer, access.byteOffset);
  else
    storeByText(ir, "st.global" + modifiersOf(access), words, access.pointer, access.byteOffset, access.mask);
}

void NvidiaEmitter::storeShared(IrBuilder &ir, llvm::ArrayRef<llvm::Value *> words, llvm::Value *pointer,
                                int64_t byteOffset, llvm::Value *mask) {
  if (mask)
    storeByText(ir, "st.shared", words, pointer, byteOffset, mask);
  else
    storePlain(ir, words, pointer, byteOffset);
}
