// Builds the text of an inline assembly together with its operands.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/PtxBuilder.h"

#include "llvm/IR/InlineAsm.h"

using namespace nereid;
using namespace nereid::nvidia;

static std::string letter(llvm::Type *type) {
  if (type->isIntegerTy(1))
    return "b";
  if (type->isIntegerTy(16))
    return "h";
  return type->isIntegerTy(32) ? "r" : "l";
}

/// The letter of a value; pointers to shared memory are 32 bits wide.
static std::string letterOf(llvm::IRBuilderBase &ir, llvm::Value *value) {
  const llvm::DataLayout &layout = ir.GetInsertBlock()->getModule()->getDataLayout();
  llvm::Type *type = value->getType();
  return letter(type->isPointerTy() ? layout.getIntPtrType(type) : type);
}

std::string PtxBuilder::output(llvm::Type *type, bool isEarlyClobber) {
  results.push_back(type);
  constraints += std::string(constraints.empty() ? "=" : ",=") + (isEarlyClobber ? "&" : "") + letter(type);
  return "$" + std::to_string(next++);
}

std::string PtxBuilder::input(llvm::Value *value) {
  inputs.push_back(value);
  constraints += (constraints.empty() ? "" : ",") + letterOf(ir, value);
  return "$" + std::to_string(next++);
}

std::string PtxBuilder::inputOrImmediate(llvm::Value *value) {
  auto *number = llvm::dyn_cast<llvm::ConstantInt>(value);
  return number ? "0x" + llvm::utohexstr(number->getZExtValue(), /*LowerCase=*/true) : input(value);
}

llvm::SmallVector<llvm::Value *, 4> PtxBuilder::emit(const std::string &text, llvm::MemoryEffects effects) {
  llvm::Type *type = results.empty()       ? ir.getVoidTy()
                     : results.size() == 1 ? results.front()
                                           : llvm::StructType::get(ir.getContext(), results);
  auto inputTypes = llvm::map_to_vector(inputs, [](llvm::Value *value) { return value->getType(); });
  auto *function = llvm::FunctionType::get(type, inputTypes, false);
  // The flag makes code generation keep the order of side effects; the stated memory effects apply before it.
  llvm::CallInst *call =
      ir.CreateCall(llvm::InlineAsm::get(function, text, constraints, /*hasSideEffects=*/true), inputs);
  call->setMemoryEffects(effects);
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  if (results.size() < 2)
    return {call};
  llvm::SmallVector<llvm::Value *, 4> words;
  for (unsigned index = 0; index < results.size(); ++index)
    words.push_back(ir.CreateExtractValue(call, index));
  return words;
}

std::string nvidia::addressText(const std::string &base, int64_t offset) {
  return offset == 0 ? "[" + base + "]" : "[" + base + " + " + std::to_string(offset) + "]";
}
