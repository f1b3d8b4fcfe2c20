// Gives the phis of a loop and those after it the same registers for constants that enter both.
// SPDX-License-Identifier: MIT
//
// A loop that may not run is guarded, so that the zeros of an accumulator reach two sets of phis. Code generation
// writes each set on its edge, which doubles the moves: a wgmma accumulator has up to 256 registers.
//
//   guard: br loop or after                     guard: z = asm "mov z, 0"; br loop or after
//   loop:  a = phi [0, guard], [next, loop]  ->  loop:  a = phi [z, guard], [next, loop]
//   after: r = phi [0, guard], [next, loop]      after: r = phi [z, guard], [next, loop]
//
// z, a, next and r are one register, as the constant was not.
#include "compiler/target/nvidia/codegen/ShareLoopInits.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

namespace {
/// A constant that enters a loop and leaves its guard as the same variable.
struct SharedInit {
  Constant *value;
  Use *entering, *skipping;
};
} // namespace

/// Fewer are not worth an assembly.
static constexpr unsigned kFewestInits = 8;

/// The first basic block with several predecessors on the way from a branch to `block`, and the one before it.
static std::pair<BasicBlock *, BasicBlock *> joinAfter(BasicBlock *from, BasicBlock *block) {
  while (block->getSinglePredecessor() && block->getSingleSuccessor()) {
    from = block;
    block = block->getSingleSuccessor();
  }
  return {from, block};
}

/// The 32-bit constants that phis of `block` get from `from`, in their order.
static MapVector<Constant *, SmallVector<Use *>> constantsFrom(BasicBlock *from, BasicBlock *block) {
  MapVector<Constant *, SmallVector<Use *>> uses;
  for (PHINode &phi : block->phis()) {
    const int index = phi.getBasicBlockIndex(from);
    if (index < 0 || phi.getType()->getPrimitiveSizeInBits() != 32)
      continue;
    if (auto *value = dyn_cast<Constant>(phi.getIncomingValue(index)); isa_and_nonnull<ConstantFP, ConstantInt>(value))
      uses[value].push_back(&phi.getOperandUse(index));
  }
  return uses;
}

/// Phis on both sides list the registers of a tile in the same order.
static SmallVector<SharedInit> sharedInits(BasicBlock &guard) {
  auto *branch = dyn_cast<BranchInst>(guard.getTerminator());
  if (!branch || !branch->isConditional() || branch->getSuccessor(0) == branch->getSuccessor(1))
    return {};
  const auto [before, header] = joinAfter(&guard, branch->getSuccessor(0));
  const auto [skip, after] = joinAfter(&guard, branch->getSuccessor(1));
  if (header == after)
    return {};
  SmallVector<SharedInit> inits;
  const auto skipping = constantsFrom(skip, after);
  for (const auto &[value, uses] : constantsFrom(before, header))
    if (auto found = skipping.find(value); found != skipping.end() && found->second.size() == uses.size())
      for (auto [entering, left] : zip_equal(uses, found->second))
        inits.push_back({value, entering, left});
  return inits;
}

static uint64_t bitsOf(const Constant *value) {
  auto *number = dyn_cast<ConstantFP>(value);
  return number ? number->getValueAPF().bitcastToAPInt().getZExtValue() : cast<ConstantInt>(value)->getZExtValue();
}

/// Defines a register for each constant by one inline assembly at the end of the guard.
static void share(BasicBlock &guard, ArrayRef<SharedInit> inits) {
  IRBuilder<> ir(guard.getTerminator());
  std::string text, constraints;
  SmallVector<Type *> types;
  for (auto [index, init] : enumerate(inits)) {
    text +=
        (index ? "\n\t" : "") + ("mov.b32 \t$" + utostr(index)) + ", 0x" + utohexstr(bitsOf(init.value), true) + ";";
    constraints += index ? ",=r" : "=r";
    types.push_back(ir.getInt32Ty());
  }
  auto *function = FunctionType::get(StructType::get(ir.getContext(), types), false);
  // With side effects, since code generation merges equal assemblies otherwise: one loop's registers would then stay
  // live until the next loop.
  CallInst *call = ir.CreateCall(InlineAsm::get(function, text, constraints, /*hasSideEffects=*/true));
  call->setMemoryEffects(MemoryEffects::none());
  for (auto [index, init] : enumerate(inits)) {
    Value *copy = ir.CreateBitCast(ir.CreateExtractValue(call, index), init.value->getType());
    init.entering->set(copy);
    init.skipping->set(copy);
  }
}

/// Whether a function has instructions of tensor cores. Only their accumulators are large; for the sums of a row ptxas
/// keeps both sets of registers live, which costs more than the moves.
static bool hasMatrixProducts(const Function &function) {
  return any_of(instructions(function), [](const Instruction &instruction) {
    auto *call = dyn_cast<CallBase>(&instruction);
    if (!call)
      return false;
    if (auto *assembly = dyn_cast<InlineAsm>(call->getCalledOperand()))
      return StringRef(assembly->getAsmString()).contains("mma");
    const Function *callee = call->getCalledFunction();
    return callee && callee->getName().starts_with("llvm.nvvm.mma");
  });
}

void nereid::nvidia::shareLoopInits(Function &function) {
  if (!hasMatrixProducts(function))
    return;
  for (BasicBlock &block : function)
    if (const SmallVector<SharedInit> inits = sharedInits(block); inits.size() >= kFewestInits)
      share(block, inits);
}
