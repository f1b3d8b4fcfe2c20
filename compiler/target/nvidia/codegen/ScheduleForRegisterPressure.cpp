// Moves pure instructions right before the first instruction with an effect that uses them.
// SPDX-License-Identifier: MIT
//
// Tiles are emitted op by op: all elements of one op, then all of the next one. A chain of ops between a load and a
// store then keeps a whole tile of each step live. ptxas reorders this only in part, slowly, and with spills:
//
//   a0 = f(x0)  a1 = f(x1) ..  b0 = g(a0)  b1 = g(a1) ..  store b0  store b1 ..
//   ->  a0 = f(x0)  b0 = g(a0)  store b0   a1 = f(x1)  b1 = g(a1)  store b1 ..
//
// Memory accesses and synchronisation keep their order.
#include "compiler/target/nvidia/codegen/ScheduleForRegisterPressure.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;

namespace {
using Order = SmallVector<Instruction *, 0>;

/// Orders one basic block by use.
class ByUse {
public:
  explicit ByUse(BasicBlock &block) : block(block) {}
  Order make();

private:
  void schedule(Instruction *root);

  BasicBlock &block;
  DenseSet<Instruction *> scheduled;
  Order order;
};
} // namespace

static bool isPure(const Instruction &instruction) {
  if (isa<PHINode, AllocaInst>(instruction) || instruction.isTerminator() || instruction.isEHPad())
    return false;
  if (auto *call = dyn_cast<CallBase>(&instruction); call && call->isConvergent())
    return false;
  return !instruction.mayReadOrWriteMemory() && !instruction.mayHaveSideEffects();
}

/// Appends everything in the basic block that the instruction depends on and that is not scheduled yet, then the
/// instruction.
void ByUse::schedule(Instruction *root) {
  SmallVector<std::pair<Instruction *, unsigned>> path = {{root, 0}};
  while (!path.empty()) {
    auto &[instruction, next] = path.back();
    if (next == instruction->getNumOperands() || scheduled.contains(instruction)) {
      if (scheduled.insert(instruction).second)
        order.push_back(instruction);
      path.pop_back();
      continue;
    }
    auto *operand = dyn_cast<Instruction>(instruction->getOperand(next++));
    if (operand && operand->getParent() == &block && !isa<PHINode>(operand) && !scheduled.contains(operand))
      path.emplace_back(operand, 0);
  }
}

/// Whether everything before an instruction stays before it: terminators, since other basic blocks use values, and
/// wgmma, between whose instructions ptxas expects nothing else.
static bool keepsAllBefore(const Instruction &instruction) {
  if (instruction.isTerminator())
    return true;
  auto *call = dyn_cast<CallBase>(&instruction);
  auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && StringRef(assembly->getAsmString()).contains("wgmma");
}

Order ByUse::make() {
  auto waiting = block.getFirstNonPHIIt();
  for (Instruction &instruction : make_range(waiting, block.end())) {
    if (isPure(instruction))
      continue;
    if (keepsAllBefore(instruction))
      for (; &*waiting != &instruction; ++waiting)
        schedule(&*waiting);
    schedule(&instruction);
  }
  return std::move(order);
}

static unsigned registersOf(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  return type->isSized() && !type->isIntegerTy(1) ? divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32) : 0;
}

/// The peak number of registers that results of the basic block's own instructions take.
static unsigned peakOf(const Order &order, const BasicBlock &block) {
  const DataLayout &layout = block.getModule()->getDataLayout();
  DenseMap<const Instruction *, unsigned> usesLeft;
  for (Instruction *instruction : order) {
    const bool leaves = any_of(instruction->users(), [&](const User *user) {
      return cast<Instruction>(user)->getParent() != &block || isa<PHINode>(user);
    });
    usesLeft[instruction] = instruction->getNumUses() + (leaves ? 1 : 0); // a use that is never reached
  }
  unsigned live = 0, peak = 0;
  for (Instruction *instruction : order) {
    for (const Use &use : instruction->operands()) {
      auto *operand = dyn_cast<Instruction>(use.get());
      auto found = operand ? usesLeft.find(operand) : usesLeft.end();
      if (found != usesLeft.end() && --found->second == 0)
        live -= registersOf(*operand, layout);
    }
    if (usesLeft[instruction] > 0)
      live += registersOf(*instruction, layout);
    peak = std::max(peak, live);
  }
  return peak;
}

/// Returns the peak that remains.
static unsigned order(BasicBlock &block, unsigned crowded) {
  Order present;
  for (Instruction &instruction : make_range(block.getFirstNonPHIIt(), block.end()))
    present.push_back(&instruction);
  const unsigned peak = peakOf(present, block);
  if (peak <= crowded)
    return peak;
  const Order byUse = ByUse(block).make();
  const unsigned lowered = peakOf(byUse, block);
  if (lowered >= peak)
    return peak;
  for (Instruction *instruction : byUse)
    instruction->moveBefore(block, block.end());
  return lowered;
}

unsigned nereid::nvidia::scheduleForRegisterPressure(Function &function, unsigned crowded) {
  unsigned peak = 0;
  for (BasicBlock &block : function)
    peak = order(block, crowded);
  return function.size() == 1 ? peak : 0;
}
