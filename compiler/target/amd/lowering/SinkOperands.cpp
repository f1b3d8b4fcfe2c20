// Moves the computation of a dot's operand from before the dot to the step along k that needs it.
// SPDX-License-Identifier: MIT
//
// An operand that is decoded in registers (e2m1, fp8, scales), or that a conversion of layouts reads from LDS, would be
// complete before the first step. Where that takes more registers than a lane has, LLVM spills, and its register
// allocator takes minutes. What a decoded operand is computed from takes fewer.
#include "compiler/target/amd/lowering/SinkOperands.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::amd;

struct OperandSinker::Computation {
  llvm::SetVector<llvm::Instruction *> instructions; ///< the movable ones of the blocks
  llvm::SetVector<llvm::Value *> sources;            ///< other values that the instructions use
};

/// The basic block before a branch around a masked access that ends at `end`; null where none does.
static llvm::BasicBlock *beforeBranch(llvm::BasicBlock &end) {
  if (!end.hasNPredecessors(2))
    return nullptr;
  llvm::BasicBlock *first = *llvm::pred_begin(&end), *second = *std::next(llvm::pred_begin(&end));
  if (first->getSinglePredecessor() == second)
    return second;
  return second->getSinglePredecessor() == first ? first : nullptr;
}

OperandSinker::OperandSinker(lowering::IrBuilder &ir, unsigned sharedAddressSpace) : ir(ir) {
  for (llvm::BasicBlock *block = ir.GetInsertBlock(); block; block = beforeBranch(*block))
    blocks.insert({block, blocks.size()});
  for (const llvm::Instruction &instruction : llvm::reverse(*ir.GetInsertBlock())) {
    const auto *load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load && load->isSimple() && load->getPointerAddressSpace() == sharedAddressSpace)
      readsOfLds.insert(load);
    else if (instruction.mayWriteToMemory() || instruction.mayHaveSideEffects())
      break;
  }
}

/// Moves between lanes: the same lanes are active in all of the blocks.
static bool movesLanes(const llvm::CallBase &call) {
  switch (call.getIntrinsicID()) {
  case llvm::Intrinsic::amdgcn_ds_bpermute:
  case llvm::Intrinsic::amdgcn_ds_swizzle:
  case llvm::Intrinsic::amdgcn_permlane16:
  case llvm::Intrinsic::amdgcn_permlane32_swap:
  case llvm::Intrinsic::amdgcn_permlanex16:
  case llvm::Intrinsic::amdgcn_update_dpp:
    return true;
  default:
    return false;
  }
}

/// Other memory accesses, matrix instructions and assembly that keeps LLVM from moving code stay.
bool OperandSinker::canMove(const llvm::Instruction &instruction) const {
  if (!blocks.contains(instruction.getParent()))
    return false;
  if (readsOfLds.contains(&instruction))
    return true;
  const auto *call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  return !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects() && !instruction.isTerminator() &&
         !llvm::isa<llvm::PHINode, llvm::AllocaInst>(instruction) &&
         !(call && call->isConvergent() && !movesLanes(*call));
}

OperandSinker::Computation OperandSinker::computationOf(llvm::ArrayRef<llvm::Value *> elements) const {
  Computation computation;
  auto add = [&](llvm::Value *value) {
    auto *instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction && canMove(*instruction))
      computation.instructions.insert(instruction);
    else if (!llvm::isa<llvm::Constant, llvm::MetadataAsValue>(value))
      computation.sources.insert(value);
  };
  llvm::for_each(elements, add);
  for (size_t next = 0; next < computation.instructions.size(); ++next)
    llvm::for_each(computation.instructions[next]->operands(), add);
  return computation;
}

static uint64_t bitsOf(llvm::ArrayRef<llvm::Value *> values) {
  uint64_t bits = 0;
  for (const llvm::Value *value : values)
    bits += value->getType()->isPointerTy() ? 64 : value->getType()->getPrimitiveSizeInBits().getFixedValue();
  return bits;
}

bool OperandSinker::savesRegisters(llvm::ArrayRef<llvm::Value *> elements) const {
  const llvm::SetVector<llvm::Value *> distinct(elements.begin(), elements.end());
  return bitsOf(computationOf(elements).sources.getArrayRef()) < bitsOf(distinct.getArrayRef());
}

void OperandSinker::sinkToEnd(llvm::ArrayRef<llvm::Value *> elements) const {
  llvm::SmallVector<llvm::Instruction *> order = computationOf(elements).instructions.takeVector();
  llvm::sort(order, [&](const llvm::Instruction *a, const llvm::Instruction *b) {
    if (a->getParent() == b->getParent())
      return b->comesBefore(a);
    return blocks.lookup(a->getParent()) < blocks.lookup(b->getParent());
  });
  llvm::DenseSet<llvm::User *> moved;
  llvm::BasicBlock::iterator end = ir.GetInsertPoint();
  for (llvm::Instruction *instruction : order) {
    if (!llvm::all_of(instruction->users(), [&](llvm::User *user) { return moved.contains(user); }))
      continue;
    instruction->moveBefore(*ir.GetInsertBlock(), end);
    end = instruction->getIterator();
    moved.insert(instruction);
  }
}
