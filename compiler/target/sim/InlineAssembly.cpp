// Writes the text and the constraints of inline assembly.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"

#include "llvm/IR/DataLayout.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Module.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

//--- words ---------------------------------------------------------------------------------

static const DataLayout &layoutOf(IRBuilder<> &ir) { return ir.GetInsertBlock()->getModule()->getDataLayout(); }

static unsigned bitsOf(IRBuilder<> &ir, Type *type) {
  return unsigned(layoutOf(ir).getTypeSizeInBits(type).getFixedValue());
}

Words sim::wordsOf(IRBuilder<> &ir, Value *value) {
  const unsigned bits = bitsOf(ir, value->getType()), count = divideCeil(bits, 32);
  if (value->getType()->isPtrOrPtrVectorTy())
    value = ir.CreatePtrToInt(value, layoutOf(ir).getIntPtrType(value->getType()));
  value = ir.CreateBitCast(value, ir.getIntNTy(bits));
  value = ir.CreateZExt(value, ir.getIntNTy(count * 32));
  if (count == 1)
    return {value};
  value = ir.CreateBitCast(value, FixedVectorType::get(ir.getInt32Ty(), count));
  Words words;
  for (unsigned index = 0; index < count; ++index)
    words.push_back(ir.CreateExtractElement(value, index));
  return words;
}

Value *sim::fromWords(IRBuilder<> &ir, ArrayRef<Value *> words, Type *type) {
  const unsigned bits = bitsOf(ir, type), count = unsigned(words.size());
  Value *value = words[0];
  if (count > 1) {
    value = PoisonValue::get(FixedVectorType::get(ir.getInt32Ty(), count));
    for (unsigned index = 0; index < count; ++index)
      value = ir.CreateInsertElement(value, words[index], index);
    value = ir.CreateBitCast(value, ir.getIntNTy(count * 32));
  }
  value = ir.CreateTrunc(value, ir.getIntNTy(bits));
  if (!type->isPtrOrPtrVectorTy())
    return ir.CreateBitCast(value, type);
  return ir.CreateIntToPtr(ir.CreateBitCast(value, layoutOf(ir).getIntPtrType(type)), type);
}

//--- calls ---------------------------------------------------------------------------------

void InlineAssembly::separate() { text += std::exchange(hasOperands, true) ? ", " : " "; }

std::string InlineAssembly::operand(Type *type, bool isResult) {
  const char letter = type->isFloatTy() ? 'f' : type->isDoubleTy() ? 'd' : type->isIntegerTy(64) ? 'l' : 'r';
  constraints += (constraints.empty() ? "" : ",") + std::string(isResult ? "=" : "") + letter;
  return "$" + std::to_string(number++);
}

InlineAssembly &InlineAssembly::results(Type *type, unsigned count, bool isList) {
  separate();
  text += isList ? "{" : "";
  for (unsigned index = 0; index < count; ++index) {
    text += (index ? ", " : "") + operand(type, true);
    resultTypes.push_back(type);
  }
  text += isList ? "}" : "";
  return *this;
}

InlineAssembly &InlineAssembly::source(Value *value) {
  separate();
  text += operand(value->getType(), false);
  values.push_back(value);
  return *this;
}

InlineAssembly &InlineAssembly::sources(ArrayRef<Value *> list) {
  separate();
  text += "{";
  for (auto [index, value] : enumerate(list)) {
    text += (index ? ", " : "") + operand(value->getType(), false);
    values.push_back(value);
  }
  text += "}";
  return *this;
}

InlineAssembly &InlineAssembly::immediate(uint64_t value) {
  separate();
  text += std::to_string(value);
  return *this;
}

Words InlineAssembly::call(Effects effects) {
  Type *result = resultTypes.empty()       ? ir.getVoidTy()
                 : resultTypes.size() == 1 ? resultTypes[0]
                                           : static_cast<Type *>(StructType::get(ir.getContext(), resultTypes));
  SmallVector<Type *> types;
  for (Value *value : values)
    types.push_back(value->getType());
  const bool hasMemory = effects == Effects::Memory;
  if (hasMemory)
    constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  auto *assembly = InlineAsm::get(FunctionType::get(result, types, false), text + ";", constraints, hasMemory);
  CallInst *call = ir.CreateCall(assembly, values);
  call->setDoesNotThrow();
  if (!hasMemory)
    call->setDoesNotAccessMemory();
  if (effects != Effects::Pure)
    call->addFnAttr(Attribute::Convergent);
  Words words;
  for (unsigned index = 0; index < resultTypes.size(); ++index)
    words.push_back(resultTypes.size() == 1 ? static_cast<Value *>(call) : ir.CreateExtractValue(call, index));
  return words;
}
