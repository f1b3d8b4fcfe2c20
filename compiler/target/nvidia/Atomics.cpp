// Atomic accesses to global memory as PTX, which unlike LLVM's own keep order and scope and take predicates.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/Assembly.h"
#include "compiler/target/nvidia/NvidiaEmitter.h"

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

/// Without its acquiring half: what an access gives must be looked at before it can say that others have released.
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

/// ".add.noftz.f16x2"; empty where there is no such instruction.
static std::string floatSumText(llvm::Type *type, const Arch &arch) {
  llvm::Type *element = type->getScalarType();
  const std::string pair = type->isVectorTy() ? "x2" : "";
  if (element->isHalfTy())
    return ".add.noftz.f16" + pair;
  if (element->isBFloatTy())
    return arch.hasBf16Atomics ? ".add.noftz.bf16" + pair : "";
  if (type->isVectorTy())
    return "";
  return element->isFloatTy() ? ".add.f32" : element->isDoubleTy() ? ".add.f64" : "";
}

/// PTX ISA, atom: which operations there are of which types.
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

llvm::Value *NvidiaEmitter::atomicGlobal(IrBuilder &ir, const AtomicAccess &access) {
  llvm::Type *type = access.value->getType();
  const std::string operation = operationText(access, arch);
  if (operation.empty())
    return nullptr;
  // PTX ISA, red: neither swaps nor exchanges.
  const bool reduces = !access.isUsed && access.op && *access.op != tt::RMWOp::XCHG;
  llvm::Type *bits = ir.getIntNTy(type->getPrimitiveSizeInBits());
  Assembly assembly(ir);
  const std::string result = reduces ? "" : assembly.output(bits, /*isEarly=*/false) + ", ";
  std::string operands = addressText(assembly.input(access.pointer), access.byteOffset);
  for (llvm::Value *operand : {access.compared, access.value})
    if (operand)
      operands += ", " + assembly.input(ir.CreateBitCast(operand, bits));
  const std::string predicate = access.mask ? "@" + assembly.input(access.mask) + " " : "";
  const std::string semantic = semanticText(reduces ? withoutResult(access.semantic) : access.semantic);
  const std::string text = predicate + (reduces ? "red" : "atom") + semantic + scopeText(access.scope) + ".global" +
                           operation + " " + result + operands + ";";
  llvm::Value *before = assembly.emit(text, llvm::MemoryEffects::unknown()).front();
  return reduces ? llvm::PoisonValue::get(type) : ir.CreateBitCast(before, type);
}
