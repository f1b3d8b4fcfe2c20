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

static unsigned registersOf(Type *type, const DataLayout &layout) {
  return type->isSized() && !type->isIntegerTy(1) ? divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32) : 0;
}

namespace {
/// A result, or a field of one, as the words of a wide load are.
using Word = std::pair<const Instruction *, unsigned>;

/// Counts the registers of a basic block's own results, from their definition to their last use.
class LiveWords {
public:
  LiveWords(const Order &order, const BasicBlock &block);
  unsigned peak(const Order &order);

private:
  static Word wordOf(const Value *value);
  unsigned registersOf(Word word) const;
  static unsigned fieldsOf(const Instruction *instruction);

  const DataLayout &layout;
  DenseMap<Word, unsigned> usesLeft;
};
} // namespace

/// Instructions whose result is in its operand's registers.
static bool isView(const Instruction *instruction) {
  if (auto *extract = dyn_cast<ExtractElementInst>(instruction))
    return isa<ConstantInt>(extract->getIndexOperand()) &&
           extract->getVectorOperandType()->getPrimitiveSizeInBits() <= 32;
  return isa<ExtractValueInst>(instruction) ||
         (isa<BitCastInst>(instruction) && !instruction->getType()->isPointerTy());
}

/// The word that a value is, or is a view of; null for values without a definition.
Word LiveWords::wordOf(const Value *value) {
  auto *instruction = dyn_cast<Instruction>(value);
  while (instruction && isView(instruction)) {
    if (auto *field = dyn_cast<ExtractValueInst>(instruction); field && isa<Instruction>(field->getAggregateOperand()))
      return {cast<Instruction>(field->getAggregateOperand()), field->getIndices().front()};
    instruction = dyn_cast<Instruction>(instruction->getOperand(0));
  }
  return {instruction, 0};
}

unsigned LiveWords::fieldsOf(const Instruction *instruction) {
  auto *fields = dyn_cast<StructType>(instruction->getType());
  return fields ? fields->getNumElements() : 1;
}

unsigned LiveWords::registersOf(Word word) const {
  auto *fields = dyn_cast<StructType>(word.first->getType());
  return ::registersOf(fields ? fields->getElementType(word.second) : word.first->getType(), layout);
}

LiveWords::LiveWords(const Order &order, const BasicBlock &block) : layout(block.getModule()->getDataLayout()) {
  for (const Instruction *instruction : order) {
    if (!isView(instruction))
      for (const Use &use : instruction->operands())
        if (const Word word = wordOf(use.get()); word.first)
          ++usesLeft[word];
    const bool leaves = any_of(instruction->users(), [&](const User *user) {
      return cast<Instruction>(user)->getParent() != &block || isa<PHINode>(user);
    });
    if (const Word word = wordOf(instruction); leaves && word.first)
      ++usesLeft[word]; // a use that is never reached
  }
}

unsigned LiveWords::peak(const Order &order) {
  unsigned live = 0, peak = 0;
  DenseSet<Word> defined;
  for (const Instruction *instruction : order) {
    if (isView(instruction))
      continue;
    for (const Use &use : instruction->operands()) {
      const Word word = wordOf(use.get());
      if (word.first && --usesLeft[word] == 0 && defined.contains(word))
        live -= registersOf(word);
    }
    for (unsigned field = 0; field < fieldsOf(instruction); ++field)
      if (usesLeft.lookup({instruction, field}) > 0) {
        defined.insert({instruction, field});
        live += registersOf({instruction, field});
      }
    peak = std::max(peak, live);
  }
  return peak;
}

static unsigned peakOf(const Order &order, const BasicBlock &block) { return LiveWords(order, block).peak(order); }

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
