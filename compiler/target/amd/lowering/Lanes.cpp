// Exchanges words between the lanes of a wave: by DPP within rows of 16 lanes, by swizzles of LDS hardware, by index.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/lowering/AmdEmitter.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::lowering;

// "Vega" and later instruction set architectures, DPP_CTRL.
static constexpr unsigned kQuadPerm = 0x000, kRowHalfMirror = 0x141, kRowMirror = 0x140, kRowRotate = 0x120;

/// Two bits for each lane of a quad: the lane that it reads.
static unsigned quadControl(unsigned laneMask) {
  unsigned control = kQuadPerm;
  for (unsigned lane = 0; lane < 4; ++lane)
    control |= (lane ^ laneMask) << (2 * lane);
  return control;
}

/// The controls by which, one after the other, each lane of a row of 16 reads lane ^ `laneMask`. A mirror of eight lanes
/// is an XOR with 7, a rotation by eight one with 8.
static llvm::SmallVector<unsigned, 3> dppControls(unsigned laneMask) {
  if (laneMask == 15)
    return {kRowMirror};
  llvm::SmallVector<unsigned, 3> controls;
  if (laneMask & 8)
    controls.push_back(kRowRotate + 8);
  if (laneMask & 4)
    controls.push_back(kRowHalfMirror);
  if (const unsigned inQuad = (laneMask & 4 ? ~laneMask : laneMask) & 3)
    controls.push_back(quadControl(inQuad));
  return controls;
}

/// RDNA: a permutation of 16 lanes that is given as four bits for each, from the lane's row or the other one. LLVM merges
/// DPP moves into instructions with immediates that gfx11 does not have; it leaves these alone.
static llvm::Value *permuteRows(IrBuilder &ir, llvm::Value *word, unsigned laneMask) {
  uint64_t lanes = 0;
  for (uint64_t lane = 0; lane < 16; ++lane)
    lanes |= (lane ^ (laneMask & 15)) << (4 * lane);
  const auto id = laneMask & 16 ? llvm::Intrinsic::amdgcn_permlanex16 : llvm::Intrinsic::amdgcn_permlane16;
  return ir.CreateIntrinsic(id, {ir.getInt32Ty()},
                            {word, word, ir.getInt32(uint32_t(lanes)), ir.getInt32(uint32_t(lanes >> 32)),
                             ir.getFalse(), ir.getFalse()});
}

llvm::Value *AmdEmitter::exchangeRow(IrBuilder &ir, llvm::Value *word, unsigned control) {
  constexpr unsigned allRows = 0xf, allBanks = 0xf;
  return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_update_dpp, {ir.getInt32Ty()},
                            {llvm::PoisonValue::get(ir.getInt32Ty()), word, ir.getInt32(control), ir.getInt32(allRows),
                             ir.getInt32(allBanks), ir.getTrue()});
}

/// ds_swizzle_b32 in its mode for 32 lanes: lane' = ((lane & and) | or) ^ xor, five bits each.
static llvm::Value *swizzle(IrBuilder &ir, llvm::Value *word, unsigned laneMask) {
  constexpr unsigned allBits = 0x1f;
  return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_ds_swizzle, {}, {word, ir.getInt32(laneMask << 10 | allBits)});
}

llvm::Value *AmdEmitter::shuffleXor(IrBuilder &ir, llvm::Value *word, unsigned laneMask) {
  if (arch.hasPermlane16)
    return permuteRows(ir, word, laneMask);
  if (laneMask < 16) {
    for (unsigned control : dppControls(laneMask))
      word = exchangeRow(ir, word, control);
    return word;
  }
  if (laneMask < 32)
    return swizzle(ir, word, laneMask);
  // Halves of a wave of 64 lanes exchange their words, then lanes of a half.
  llvm::Value *other;
  if (arch.hasPermlane32Swap) {
    llvm::Value *pair = ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_permlane32_swap, {},
                                           {word, word, ir.getFalse(), ir.getFalse()});
    // Of two copies of a word, the first result has the low half in both halves, the second the high half.
    llvm::Value *isHigh = ir.CreateICmpNE(ir.CreateAnd(threadId(ir, 1024), ir.getInt32(32)), ir.getInt32(0));
    other = ir.CreateSelect(isHigh, ir.CreateExtractValue(pair, 0), ir.CreateExtractValue(pair, 1));
    return laneMask == 32 ? other : shuffleXor(ir, other, laneMask - 32);
  }
  llvm::Value *lane = ir.CreateAnd(threadId(ir, 1024), ir.getInt32(arch.waveSize - 1));
  return shuffleIndex(ir, word, ir.CreateXor(lane, ir.getInt32(laneMask)));
}

llvm::Value *AmdEmitter::shuffleIndex(IrBuilder &ir, llvm::Value *word, llvm::Value *lane) {
  if (auto *constant = llvm::dyn_cast<llvm::ConstantInt>(lane); constant && constant->isZero())
    return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_readfirstlane, {ir.getInt32Ty()}, {word});
  // The instruction takes the lane's number in bytes and ignores bits beyond the wave.
  return ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_ds_bpermute, {}, {ir.CreateShl(lane, 2), word});
}
