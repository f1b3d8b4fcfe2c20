// Emits sqrt and rsqrt.
// SPDX-License-Identifier: MIT

#include "compiler/math/Math.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace nereid::math {

static llvm::Value *exactRoot(llvm::IRBuilderBase &builder, llvm::Value *x) {
  return builder.CreateUnaryIntrinsic(llvm::Intrinsic::sqrt, x);
}

llvm::Value *emitSqrt(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  builder.setDefaultFPMathTag(nullptr);
  return exactRoot(builder, x);
}

llvm::Value *emitRsqrt(llvm::IRBuilderBase &builder, llvm::Value *x, const HostMath &) {
  const llvm::IRBuilderBase::FastMathFlagGuard guard(builder);
  builder.clearFastMathFlags();
  builder.setDefaultFPMathTag(nullptr);
  return builder.CreateFDiv(llvm::ConstantFP::get(x->getType(), 1.0), exactRoot(builder, x));
}

} // namespace nereid::math
