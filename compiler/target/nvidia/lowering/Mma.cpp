// Emits the matrix instructions of a warp (mma).
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace nereid;
using namespace nereid::nvidia;
using llvm::Intrinsic::ID;

using Values = llvm::SmallVector<llvm::Value *, 4>;

static Values parts(lowering::IrBuilder &ir, llvm::Value *whole) {
  Values values;
  for (unsigned index = 0; index < whole->getType()->getStructNumElements(); ++index)
    values.push_back(ir.CreateExtractValue(whole, index));
  return values;
}

/// Two by two instructions of 8 rows and a K of 4.
static Values emitF64Mma(lowering::IrBuilder &ir, llvm::ArrayRef<llvm::Value *> a, llvm::ArrayRef<llvm::Value *> b,
                         Values accumulators) {
  for (unsigned half : {0, 1})
    for (unsigned rows : {0, 1}) {
      llvm::Value *sum =
          ir.CreateIntrinsic(llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64, {},
                             {a[2 * half + rows], b[half], accumulators[2 * rows], accumulators[2 * rows + 1]});
      accumulators[2 * rows] = ir.CreateExtractValue(sum, 0);
      accumulators[2 * rows + 1] = ir.CreateExtractValue(sum, 1);
    }
  return accumulators;
}

static ID mmaIntrinsic(ttng::MmaKind kind) {
  switch (kind) {
  case ttng::MmaKind::F16:
    return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32;
  case ttng::MmaKind::BF16:
    return llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16;
  case ttng::MmaKind::TF32:
    return llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32;
  case ttng::MmaKind::Int8:
    return llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8;
  case ttng::MmaKind::F64:
    return llvm::Intrinsic::nvvm_mma_m8n8k4_row_col_f64;
  }
  llvm_unreachable("all kinds are listed");
}

Values NvidiaEmitter::emitMma(IrBuilder &ir, ttng::MmaKind kind, llvm::ArrayRef<llvm::Value *> a,
                              llvm::ArrayRef<llvm::Value *> b, llvm::ArrayRef<llvm::Value *> accumulators) {
  if (kind == ttng::MmaKind::F64)
    return emitF64Mma(ir, a, b, Values(accumulators));
  llvm::SmallVector<llvm::Value *, 10> operands;
  for (llvm::Value *word : llvm::concat<llvm::Value *const>(a, b)) {
    const bool isPair = kind == ttng::MmaKind::F16;
    operands.push_back(isPair ? ir.CreateBitCast(word, llvm::FixedVectorType::get(ir.getHalfTy(), 2)) : word);
  }
  operands.append(accumulators.begin(), accumulators.end());
  return parts(ir, ir.CreateIntrinsic(mmaIntrinsic(kind), {}, operands));
}

llvm::Value *NvidiaEmitter::roundToTf32(IrBuilder &ir, llvm::Value *single) {
  llvm::Value *rounded = ir.CreateIntrinsic(llvm::Intrinsic::nvvm_f2tf32_rna, {}, {single});
  return ir.CreateBitCast(rounded, ir.getFloatTy());
}
