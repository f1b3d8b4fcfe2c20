// Implements what GPU vendors share of emitting tiles as LLVM IR.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TargetEmitter.h"

using namespace nereid::lowering;

TargetEmitter::~TargetEmitter() = default;

void TargetEmitter::stmatrix(IrBuilder &, llvm::ArrayRef<llvm::Value *>, llvm::Value *, int64_t, bool) {
  llvm_unreachable("only called on targets with stmatrix");
}
