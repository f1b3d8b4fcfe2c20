// Float functions of lanes of f32 and f64 as CPUs compute them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/math/Lanes.h"

#include "llvm/IR/IntrinsicsX86.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The intrinsic of vrangeps or vrangepd for a full register of the type.
static llvm::Intrinsic::ID rangeIntrinsic(llvm::Type *element, unsigned bits) {
  const bool isSingle = element->isFloatTy();
  switch (bits) {
  case 512:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_512 : llvm::Intrinsic::x86_avx512_mask_range_pd_512;
  case 256:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_256 : llvm::Intrinsic::x86_avx512_mask_range_pd_256;
  case 128:
    return isSingle ? llvm::Intrinsic::x86_avx512_mask_range_ps_128 : llvm::Intrinsic::x86_avx512_mask_range_pd_128;
  default:
    return llvm::Intrinsic::not_intrinsic;
  }
}

/// The greater (smaller) of two, a number before NaN: one vrangeps with AVX-512, three instructions elsewhere.
llvm::Value *LaneEmitter::extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(a->getType());
  const unsigned bits = vector ? std::min<unsigned>(512, vector->getPrimitiveSizeInBits().getFixedValue()) : 0;
  const llvm::Intrinsic::ID range =
      vector && machine.hasAvx512 ? rangeIntrinsic(vector->getElementType(), bits) : llvm::Intrinsic::not_intrinsic;
  if (range == llvm::Intrinsic::not_intrinsic)
    return intrinsic(isMax ? llvm::Intrinsic::maxnum : llvm::Intrinsic::minnum, {a, b});
  const unsigned lanes = bits / vector->getScalarSizeInBits();
  return math::emitByRegister(ir, {a, b}, lanes, [&](ArrayRef<llvm::Value *> parts) -> llvm::Value * {
    // The immediate: 1 selects the greater (0 the smaller), 4 keeps the sign of the result.
    SmallVector<llvm::Value *> operands = {parts[0], parts[1], ir.getInt32(isMax ? 5 : 4),
                                           llvm::Constant::getNullValue(parts[0]->getType()),
                                           llvm::ConstantInt::getAllOnesValue(ir.getIntNTy(std::max(lanes, 8u)))};
    if (bits == 512)
      operands.push_back(ir.getInt32(4)); // the current exception mode
    return ir.CreateIntrinsic(range, {}, operands);
  });
}

llvm::Value *LaneEmitter::mathFunction(Operation *, lowering::MathEmitter emit, llvm::Value *x) {
  return emit(ir, x, math);
}

llvm::Value *LaneEmitter::libraryFunction(llvm::Intrinsic::ID id, ArrayRef<llvm::Value *> in) {
  return intrinsic(id, in);
}
