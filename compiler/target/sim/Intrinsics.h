// Replaces AMD's intrinsics by special registers, arithmetic and instructions of the simulator.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/sim/EmitPtx.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

namespace nereid::sim {

/// Replaces those of all functions. An error names the first that is not known.
llvm::Error replaceIntrinsics(llvm::Module &module, const artifact::AmdArch &arch);

/// A call of an intrinsic that is replaced.
struct Site {
  llvm::IntrinsicInst &call;
  llvm::IRBuilder<> ir;
  const artifact::AmdArch &arch;

  llvm::Value *operand(unsigned index) const { return call.getArgOperand(index); }
  uint64_t number(unsigned index) const { return llvm::cast<llvm::ConstantInt>(operand(index))->getZExtValue(); }
  bool isFnuz() const { return arch.fp8 == artifact::Fp8Format::Fnuz; }
};

/// The groups of intrinsics. A result of null where the group does not have this one; a call without a result gives
/// `site.call`.
llvm::Value *replaceIds(Site &site);
llvm::Value *replaceLaneExchange(Site &site);
llvm::Value *replaceMatrix(Site &site);
llvm::Value *replaceBuffer(Site &site);
llvm::Value *replaceConversion(Site &site);
llvm::Value *replaceMath(Site &site);
llvm::Value *replaceSynchronisation(Site &site);

} // namespace nereid::sim
