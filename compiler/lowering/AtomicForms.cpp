// Translates the memory orders and operations of atomic accesses to LLVM's.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/AtomicForms.h"

using namespace nereid;

llvm::AtomicOrdering lowering::orderingOf(tt::MemSemantic semantic) {
  switch (semantic) {
  case tt::MemSemantic::RELAXED:
    return llvm::AtomicOrdering::Monotonic;
  case tt::MemSemantic::ACQUIRE:
    return llvm::AtomicOrdering::Acquire;
  case tt::MemSemantic::RELEASE:
    return llvm::AtomicOrdering::Release;
  case tt::MemSemantic::ACQUIRE_RELEASE:
    return llvm::AtomicOrdering::AcquireRelease;
  }
  llvm_unreachable("all semantics are listed");
}

llvm::AtomicRMWInst::BinOp lowering::atomicOperationOf(tt::RMWOp op) {
  using Inst = llvm::AtomicRMWInst;
  switch (op) {
  case tt::RMWOp::AND:
    return Inst::And;
  case tt::RMWOp::OR:
    return Inst::Or;
  case tt::RMWOp::XOR:
    return Inst::Xor;
  case tt::RMWOp::ADD:
    return Inst::Add;
  case tt::RMWOp::FADD:
    return Inst::FAdd;
  case tt::RMWOp::MAX:
    return Inst::Max;
  case tt::RMWOp::MIN:
    return Inst::Min;
  case tt::RMWOp::UMAX:
    return Inst::UMax;
  case tt::RMWOp::UMIN:
    return Inst::UMin;
  case tt::RMWOp::XCHG:
    return Inst::Xchg;
  }
  llvm_unreachable("all operations are listed");
}
