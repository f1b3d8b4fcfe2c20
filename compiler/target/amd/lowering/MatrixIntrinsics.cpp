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

static bool isE4m3(const MatrixOperand &operand) { return operand.format == tt::ScaleDotElemType::E4M3; }

static Pair fp8Pair(const MatrixOperands &operands) {
  if (isE4m3(operands.a))
    return isE4m3(operands.b) ? Pair{amdgcn_mfma_f32_16x16x32_fp8_fp8, amdgcn_mfma_f32_32x32x16_fp8_fp8}
                              : Pair{amdgcn_mfma_f32_16x16x32_fp8_bf8, amdgcn_mfma_f32_32x32x16_fp8_bf8};
  return isE4m3(operands.b) ? Pair{amdgcn_mfma_f32_16x16x32_bf8_fp8, amdgcn_mfma_f32_32x32x16_bf8_fp8}
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
    return pick(fp8Pair(operands));
  case MatrixKind::Mx:
    return pick({amdgcn_mfma_scale_f32_16x16x128_f8f6f4, amdgcn_mfma_scale_f32_32x32x64_f8f6f4});
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
    if (isE4m3(operands.a))
      return isE4m3(operands.b) ? amdgcn_wmma_f32_16x16x16_fp8_fp8 : amdgcn_wmma_f32_16x16x16_fp8_bf8;
    return isE4m3(operands.b) ? amdgcn_wmma_f32_16x16x16_bf8_fp8 : amdgcn_wmma_f32_16x16x16_bf8_bf8;
  case MatrixKind::F32:
  case MatrixKind::XF32:
  case MatrixKind::F64:
  case MatrixKind::Mx:
    break;
  }
  llvm_unreachable("wmma has no such kind");
}

static llvm::Type *wordsType(llvm::IRBuilder<> &ir, unsigned count) {
  return count == 1 ? static_cast<llvm::Type *>(ir.getInt32Ty()) : llvm::FixedVectorType::get(ir.getInt32Ty(), count);
}

/// The operand in the intrinsic's type: bytes are words, and so is bf16 where LLVM's intrinsics are older than its
/// type.
static llvm::Value *packed(llvm::IRBuilder<> &ir, llvm::Value *elements, const MatrixInstruction &instruction,
                           const Arch &arch) {
  const unsigned count = instruction.perLane;
  const bool isMfma = arch.matrixUnit == MatrixUnit::Mfma;
  switch (instruction.kind) {
  case MatrixKind::BF16:
    return isMfma && count == 8 ? elements
                                : ir.CreateBitCast(elements, llvm::FixedVectorType::get(ir.getInt16Ty(), count));
  case MatrixKind::Int8:
  case MatrixKind::Fp8:
    return ir.CreateBitCast(elements, isMfma && count == 8 ? ir.getInt64Ty() : wordsType(ir, count / 4));
  case MatrixKind::Mx:
    return ir.CreateBitCast(
        elements, wordsType(ir, llvm::cast<llvm::FixedVectorType>(elements->getType())->getNumElements() / 4));
  case MatrixKind::F16:
  case MatrixKind::F32:
  case MatrixKind::XF32:
  case MatrixKind::F64:
    return elements;
  }
  llvm_unreachable("all kinds are listed");
}

static llvm::Value *callMfma(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction,
                             const MatrixOperands &operands, llvm::Value *a, llvm::Value *b, llvm::Value *sum) {
  llvm::Value *none = ir.getInt32(0); // no broadcast of blocks
  return ir.CreateIntrinsic(mfmaId(instruction, operands), {}, {a, b, sum, none, none, none});
}

/// "CDNA4" instruction set architecture: the numbers of the formats.
static unsigned formatNumber(tt::ScaleDotElemType format) {
  switch (format) {
  case tt::ScaleDotElemType::E4M3:
    return 0;
  case tt::ScaleDotElemType::E5M2:
    return 1;
  case tt::ScaleDotElemType::E2M3:
    return 2;
  case tt::ScaleDotElemType::E3M2:
    return 3;
  case tt::ScaleDotElemType::E2M1:
    return 4;
  case tt::ScaleDotElemType::BF16:
  case tt::ScaleDotElemType::FP16:
    break;
  }
  llvm_unreachable("mfma scales floats of at most 8 bits");
}

/// Without any scales LLVM's form is zeros, for which it selects the instruction that does not scale.
static llvm::Value *callScaledMfma(llvm::IRBuilder<> &ir, const MatrixInstruction &instruction,
                                   const MatrixOperands &operands, llvm::Value *a, llvm::Value *b, llvm::Value *sum) {
  static constexpr unsigned kOne = 127; // e8m0
  llvm::Value *absent = ir.getInt32(operands.a.scales || operands.b.scales ? kOne : 0);
  auto scales = [&](const MatrixOperand &operand) { return operand.scales ? operand.scales : absent; };
  return ir.CreateIntrinsic(mfmaId(instruction, operands), {a->getType(), b->getType()},
                            {a, b, sum, ir.getInt32(formatNumber(operands.a.format)),
                             ir.getInt32(formatNumber(operands.b.format)), ir.getInt32(operands.a.scaleByte),
                             scales(operands.a), ir.getInt32(operands.b.scaleByte), scales(operands.b)});
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
  llvm::Value *a = packed(ir, operands.a.elements, instruction, arch);
  llvm::Value *b = packed(ir, operands.b.elements, instruction, arch);
  if (instruction.kind == MatrixKind::Mx)
    sum = callScaledMfma(ir, instruction, operands, a, b, sum);
  else if (arch.matrixUnit == MatrixUnit::Mfma)
    sum = callMfma(ir, instruction, operands, a, b, sum);
  else
    sum = callWmma(ir, instruction, operands, a, b, sum);
  Tile values;
  for (unsigned index = 0; index < accumulators.size(); ++index)
    values.push_back(ir.CreateExtractElement(sum, uint64_t{index}));
  return values;
}
