// Chooses the intrinsic of a matrix instruction and packs its operands.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/lowering/MatrixIntrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::amd;
using namespace llvm::Intrinsic;
using lowering::Tile;

/// The intrinsics for tiles of 16 and of 32 rows.
struct Pair {
  ID of16, of32;
};

static Pair fp8Pair(bool isAE4m3, bool isBE4m3) {
  if (isAE4m3)
    return isBE4m3 ? Pair{amdgcn_mfma_f32_16x16x32_fp8_fp8, amdgcn_mfma_f32_32x32x16_fp8_fp8}
                   : Pair{amdgcn_mfma_f32_16x16x32_fp8_bf8, amdgcn_mfma_f32_32x32x16_fp8_bf8};
  return isBE4m3 ? Pair{amdgcn_mfma_f32_16x16x32_bf8_fp8, amdgcn_mfma_f32_32x32x16_bf8_fp8}
                 : Pair{amdgcn_mfma_f32_16x16x32_bf8_bf8, amdgcn_mfma_f32_32x32x16_bf8_bf8};
}

static ID mfmaId(const MatrixInstruction &instruction, const MatrixOperands &operands) {
  const unsigned perLane = instruction.perLane;
  auto pick = [&](Pair pair) { return instruction.extent == 32 ? pair.of32 : pair.of16; };
  switch (instruction.kind) {
  case MatrixKind::F16:
    return pick(perLane == 8 ? Pair{amdgcn_mfma_f32_16x16x32_f16, amdgcn_mfma_f32_32x32x16_f16}
                             : Pair{amdgcn_mfma_f32_16x16x16f16, amdgcn_mfma_f32_32x32x8f16});
  case MatrixKind::BF16:
    return pick(perLane == 8 ? Pair{amdgcn_mfma_f32_16x16x32_bf16, amdgcn_mfma_f32_32x32x16_bf16}
                             : Pair{amdgcn_mfma_f32_16x16x16bf16_1k, amdgcn_mfma_f32_32x32x8bf16_1k});
  case MatrixKind::F32:
    return pick({amdgcn_mfma_f32_16x16x4f32, amdgcn_mfma_f32_32x32x2f32});
  case MatrixKind::XF32:
    return pick({amdgcn_mfma_f32_16x16x8_xf32, amdgcn_mfma_f32_32x32x4_xf32});
  case MatrixKind::F64:
    return amdgcn_mfma_f64_16x16x4f64;
  case MatrixKind::Int8:
    return pick(perLane == 16  ? Pair{amdgcn_mfma_i32_16x16x64_i8, amdgcn_mfma_i32_32x32x32_i8}
                : perLane == 8 ? Pair{amdgcn_mfma_i32_16x16x32_i8, amdgcn_mfma_i32_32x32x16_i8}
                               : Pair{amdgcn_mfma_i32_16x16x16i8, amdgcn_mfma_i32_32x32x8i8});
  case MatrixKind::Fp8:
    return pick(fp8Pair(operands.isAE4m3, operands.isBE4m3));
  }
  llvm_unreachable("all kinds are listed");
}

static ID wmmaId(const MatrixInstruction &instruction, const MatrixOperands &operands) {
  switch (instruction.kind) {
  case MatrixKind::F16:
    return amdgcn_wmma_f32_16x16x16_f16;
  case MatrixKind::BF16:
    return amdgcn_wmma_f32_16x16x16_bf16;
  case MatrixKind::Int8:
    return amdgcn_wmma_i32_16x16x16_iu8;
  case MatrixKind::Fp8:
    if (operands.isAE4m3)
      return operands.isBE4m3 ? amdgcn_wmma_f32_16x16x16_fp8_fp8 : amdgcn_wmma_f32_16x16x16_fp8_bf8;
    return operands.isBE4m3 ? amdgcn_wmma_f32_16x16x16_bf8_fp8 : amdgcn_wmma_f32_16x16x16_bf8_bf8;
  case MatrixKind::F32:
  case MatrixKind::XF32:
  case MatrixKind::F64:
    break;
  }
  llvm_unreachable("wmma has no such kind");
}

/// The operand in the intrinsic's type: bytes are words, and so is bf16 where LLVM's intrinsics are older than its type.
static llvm::Value *packed(llvm::IRBuilder<> &ir, llvm::Value *elements, const MatrixInstruction &instruction,
                           const Arch &arch) {
  const unsigned count = instruction.perLane;
  const bool isMfma = arch.matrixUnit == MatrixUnit::Mfma;
  auto words = [&](unsigned number) -> llvm::Type * {
    return number == 1 ? static_cast<llvm::Type *>(ir.getInt32Ty()) : llvm::FixedVectorType::get(ir.getInt32Ty(), number);
  };
  switch (instruction.kind) {
  case MatrixKind::BF16:
    return isMfma && count == 8 ? elements
                                : ir.CreateBitCast(elements, llvm::FixedVectorType::get(ir.getInt16Ty(), count));
  case MatrixKind::Int8:
  case MatrixKind::Fp8:
    return ir.CreateBitCast(elements, isMfma && count == 8 ? ir.getInt64Ty() : words(count / 4));
  case MatrixKind::F16:
  case MatrixKind::F32:
  case MatrixKind::XF32:
  case MatrixKind::F64:
    return elements;
  }
  llvm_unreachable("all kinds are listed");
}

static llvm::Value *callWmma(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction,
                             const MatrixOperands &operands, llvm::Value *a, llvm::Value *b, llvm::Value *sum) {
  const ID id = wmmaId(instruction, operands);
  if (instruction.kind != MatrixKind::Int8)
    return ir.CreateIntrinsic(id, {sum->getType(), a->getType()}, {a, b, sum});
  llvm::Value *isSigned = ir.getTrue(), *clamps = ir.getFalse();
  return ir.CreateIntrinsic(id, {sum->getType(), a->getType()}, {isSigned, a, isSigned, b, sum, clamps});
}

Tile amd::multiplyMatrices(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction, const Arch &arch,
                           const MatrixOperands &operands, llvm::ArrayRef<llvm::Value *> accumulators) {
  llvm::Type *element = accumulators.front()->getType();
  llvm::Value *sum = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, accumulators.size()));
  for (auto [index, value] : llvm::enumerate(accumulators))
    sum = ir.CreateInsertElement(sum, value, uint64_t{index});
  llvm::Value *a = packed(ir, operands.a, instruction, arch), *b = packed(ir, operands.b, instruction, arch);
  if (arch.matrixUnit == MatrixUnit::Mfma) {
    llvm::Value *none = ir.getInt32(0); // no broadcast of blocks
    sum = ir.CreateIntrinsic(mfmaId(instruction, operands), {}, {a, b, sum, none, none, none});
  } else {
    sum = callWmma(ir, instruction, operands, a, b, sum);
  }
  Tile values;
  for (unsigned index = 0; index < accumulators.size(); ++index)
    values.push_back(ir.CreateExtractElement(sum, uint64_t{index}));
  return values;
}
