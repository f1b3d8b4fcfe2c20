// Emits atomic accesses to global memory as PTX, which unlike LLVM's keep order and scope and take predicates.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"
#include "compiler/target/nvidia/lowering/PtxBuilder.h"

#include "llvm/ADT/StringExtras.h"

using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::lowering;

static std::string semanticText(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED:
    return ".relaxed";
  case tt::MemSemantic::ACQUIRE:
    return ".acquire";
  case tt::MemSemantic::RELEASE:
    return ".release";
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return ".acq_rel";
  }
  llvm_unreachable("all semantics are listed");
}

/// The semantic without its acquire half: an unused result cannot tell that other threads have released.
static tt::MemSemantic withoutResult(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::ACQUIRE:
    return tt::MemSemantic::RELAXED;
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return tt::MemSemantic::RELEASE;
  case tt::MemSemantic::RELAXED:
  case tt::MemSemantic::RELEASE:
    return semantic;
  }
  llvm_unreachable("all semantics are listed");
}

static std::string scopeText(tt::MemSyncScope scope) {
  switch (scope) {
  case tt::MemSyncScope::CTA:
    return ".cta";
  case tt::MemSyncScope::GPU:
    return ".gpu";
  case tt::MemSyncScope::SYSTEM:
    return ".sys";
  }
  llvm_unreachable("all scopes are listed");
}

llvm::StringRef NvidiaEmitter::scopeName(tt::MemSyncScope scope) const {
  switch (scope) {
  case tt::MemSyncScope::CTA:
    return "block";
  case tt::MemSyncScope::GPU:
    return "device";
  case tt::MemSyncScope::SYSTEM:
    return "";
  }
  llvm_unreachable("all scopes are listed");
}

/// ".add.noftz.v4.f16x2"; empty where there is no such instruction. PTX ISA, red: vectors of up to 16 bytes.
static std::string floatSumText(llvm::Type *type, const Arch &arch) {
  llvm::Type *element = type->getScalarType();
  const std::string pair = type->isVectorTy() ? "x2" : "";
  const unsigned words = type->getPrimitiveSizeInBits() / 32;
  if (type->isVectorTy() && words > 1 && (!arch.hasVectorAtomics || words > 4))
    return "";
  const std::string vector = type->isVectorTy() && words > 1 ? ".v" + std::to_string(words) : "";
  if (element->isHalfTy())
    return ".add.noftz" + vector + ".f16" + pair;
  if (element->isBFloatTy())
    return arch.hasBf16Atomics ? ".add.noftz" + vector + ".bf16" + pair : "";
  if (element->isFloatTy())
    return ".add" + vector + ".f32";
  return element->isDoubleTy() && !type->isVectorTy() ? ".add.f64" : "";
}

/// The PTX operation; empty where the type does not have it. PTX ISA, atom.
static std::string operationText(const AtomicAccess &access, const Arch &arch) {
  llvm::Type *type = access.value->getType();
  const unsigned bits = type->getPrimitiveSizeInBits();
  const std::string width = std::to_string(bits);
  if (!access.op)
    return ".cas.b" + width;
  if (*access.op == tt::RMWOp::FADD)
    return floatSumText(type, arch);
  if (bits < 32)
    return "";
  switch (*access.op) {
  case tt::RMWOp::AND:
    return ".and.b" + width;
  case tt::RMWOp::OR:
    return ".or.b" + width;
  case tt::RMWOp::XOR:
    return ".xor.b" + width;
  case tt::RMWOp::ADD:
    return ".add.u" + width;
  case tt::RMWOp::MAX:
    return ".max.s" + width;
  case tt::RMWOp::MIN:
    return ".min.s" + width;
  case tt::RMWOp::UMAX:
    return ".max.u" + width;
  case tt::RMWOp::UMIN:
    return ".min.u" + width;
  case tt::RMWOp::XCHG:
    return ".exch.b" + width;
  case tt::RMWOp::FADD:
    break;
  }
  llvm_unreachable("all operations are listed");
}

static bool isReduction(const AtomicAccess &access) {
  // PTX ISA, red: it has neither cas nor exch.
  return !access.isUsed && access.op && *access.op != tt::RMWOp::XCHG;
}

/// "@$3 red.relaxed.gpu.global.add.v4.f32 "
static std::string instructionText(PtxBuilder &assembly, const AtomicAccess &access, const std::string &operation) {
  const bool reduces = isReduction(access);
  const std::string predicate = access.mask ? "@" + assembly.input(access.mask) + " " : "";
  const std::string semantic = semanticText(reduces ? withoutResult(access.semantic) : access.semantic);
  return predicate + (reduces ? "red" : "atom") + semantic + scopeText(access.scope) + ".global" + operation + " ";
}

/// A vector of 32-bit words.
static llvm::Value *atomicVector(IrBuilder &ir, const AtomicAccess &access, const std::string &operation) {
  llvm::Type *type = access.value->getType();
  auto *words = llvm::FixedVectorType::get(ir.getInt32Ty(), type->getPrimitiveSizeInBits() / 32);
  PtxBuilder assembly(ir);
  llvm::SmallVector<std::string> results, operands;
  for (unsigned word = 0; word < words->getNumElements() && !isReduction(access); ++word)
    results.push_back(assembly.output(ir.getInt32Ty(), /*isEarlyClobber=*/false));
  const std::string result = results.empty() ? "" : "{" + llvm::join(results, ", ") + "}, ";
  const std::string address = addressText(assembly.input(access.pointer), access.byteOffset);
  llvm::Value *bits = ir.CreateBitCast(access.value, words);
  for (uint64_t word = 0; word < words->getNumElements(); ++word)
    operands.push_back(assembly.input(ir.CreateExtractElement(bits, word)));
  const std::string text =
      instructionText(assembly, access, operation) + result + address + ", {" + llvm::join(operands, ", ") + "};";
  const auto before = assembly.emit(text, llvm::MemoryEffects::unknown());
  if (results.empty())
    return llvm::PoisonValue::get(type);
  llvm::Value *old = llvm::PoisonValue::get(words);
  for (auto [word, value] : llvm::enumerate(before))
    old = ir.CreateInsertElement(old, value, uint64_t{word});
  return ir.CreateBitCast(old, type);
}

/// "@$2 ld.acquire.gpu.global.b32 $0, [$1];" PTX has no registers of 8 bits: such an integer uses one of 16.
static llvm::Value *loadOrStore(IrBuilder &ir, const AtomicAccess &access) {
  llvm::Type *type = access.value->getType();
  llvm::Type *held = type->isIntegerTy(8) ? ir.getInt16Ty() : type;
  PtxBuilder assembly(ir);
  const std::string result = access.isLoad ? assembly.output(held, /*isEarlyClobber=*/false) + ", " : "";
  const std::string address = addressText(assembly.input(access.pointer), access.byteOffset);
  const std::string value = access.isStore ? ", " + assembly.input(ir.CreateZExt(access.value, held)) : "";
  const std::string predicate = access.mask ? "@" + assembly.input(access.mask) + " " : "";
  const std::string text = predicate + (access.isLoad ? "ld" : "st") + semanticText(access.semantic) +
                           scopeText(access.scope) + ".global.b" + std::to_string(type->getIntegerBitWidth()) + " " +
                           result + address + value + ";";
  const auto results = assembly.emit(text, llvm::MemoryEffects::unknown());
  return access.isLoad ? ir.CreateTrunc(results.front(), type) : llvm::PoisonValue::get(type);
}

llvm::Value *NvidiaEmitter::atomicGlobal(IrBuilder &ir, const AtomicAccess &access) {
  if (access.isLoad || access.isStore)
    return loadOrStore(ir, access);
  llvm::Type *type = access.value->getType();
  const std::string operation = operationText(access, arch);
  if (operation.empty())
    return nullptr;
  if (type->isVectorTy() && type->getPrimitiveSizeInBits() > 32)
    return atomicVector(ir, access, operation);
  const bool reduces = isReduction(access);
  llvm::Type *bits = ir.getIntNTy(type->getPrimitiveSizeInBits());
  PtxBuilder assembly(ir);
  const std::string result = reduces ? "" : assembly.output(bits, /*isEarlyClobber=*/false) + ", ";
  std::string operands = addressText(assembly.input(access.pointer), access.byteOffset);
  for (llvm::Value *operand : {access.compared, access.value})
    if (operand)
      operands += ", " + assembly.input(ir.CreateBitCast(operand, bits));
  const std::string text = instructionText(assembly, access, operation) + result + operands + ";";
  llvm::Value *before = assembly.emit(text, llvm::MemoryEffects::unknown()).front();
  return reduces ? llvm::PoisonValue::get(type) : ir.CreateBitCast(before, type);
}
