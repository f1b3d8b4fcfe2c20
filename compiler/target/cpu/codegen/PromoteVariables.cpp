// Makes values of the variables of huge functions.
// SPDX-License-Identifier: MIT
//
// Each nest has variables of its own, such as accumulators. In a function of hundreds of nests LLVM's SROA takes most
// of the compilation: it visits every block after a store of a variable, though no later nest reads it. Walking from
// loads back to stores visits the nest alone.
#include "compiler/target/cpu/codegen/PromoteVariables.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Instructions.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/PromoteMemToReg.h"
#include "llvm/Transforms/Utils/SSAUpdater.h"

using namespace llvm;
using namespace nereid;

/// Loads and stores of one variable, block by block, in program order.
using Accesses = MapVector<BasicBlock *, SmallVector<Instruction *, 4>>;

/// The accesses of all variables, found in one walk over the function.
static MapVector<AllocaInst *, Accesses> variablesOf(Function &function) {
  MapVector<AllocaInst *, Accesses> variables;
  for (Instruction &instruction : function.getEntryBlock())
    if (auto *variable = dyn_cast<AllocaInst>(&instruction); variable && isAllocaPromotable(variable))
      variables.try_emplace(variable);
  for (BasicBlock &block : function)
    for (Instruction &instruction : block)
      if (auto *variable = dyn_cast_or_null<AllocaInst>(getLoadStorePointerOperand(&instruction)))
        if (auto found = variables.find(variable); found != variables.end())
          found->second[&block].push_back(&instruction);
  return variables;
}

/// Removes the stores, and the loads that follow an access in their block. Returns the loads that remain: they read
/// what the variable holds when their block begins.
static SmallVector<LoadInst *> promoteInBlocks(Accesses &accesses, SSAUpdater &updater) {
  SmallVector<LoadInst *> remaining;
  for (auto &[block, instructions] : accesses) {
    Value *current = nullptr;
    bool isStored = false;
    for (Instruction *instruction : instructions) {
      auto *load = dyn_cast<LoadInst>(instruction);
      if (load && !current) {
        remaining.push_back(load);
        current = load;
        continue;
      }
      if (load) {
        load->replaceAllUsesWith(current);
      } else {
        current = cast<StoreInst>(instruction)->getValueOperand();
        isStored = true;
      }
      instruction->eraseFromParent();
    }
    if (isStored)
      updater.AddAvailableValue(block, current);
  }
  return remaining;
}

static void promote(AllocaInst *variable, Accesses &accesses) {
  SSAUpdater updater;
  updater.Initialize(variable->getAllocatedType(), variable->getName());
  DenseMap<Value *, Value *> values; // of the loads: another load, which dominates it, or a final value
  const SmallVector<LoadInst *> loads = promoteInBlocks(accesses, updater);
  BasicBlock *entry = variable->getParent(); // what is read unwritten is undefined, not poison as in the updater
  Value *undefined = UndefValue::get(variable->getAllocatedType());
  if (!updater.HasValueForBlock(entry))
    updater.AddAvailableValue(entry, undefined);
  for (LoadInst *load : loads)
    values[load] = load->getParent() == entry ? undefined : updater.GetValueInMiddleOfBlock(load->getParent());
  for (LoadInst *load : loads) {
    Value *value = load;
    for (auto found = values.find(value); found != values.end(); found = values.find(value))
      value = found->second;
    load->replaceAllUsesWith(value);
  }
  for (LoadInst *load : loads)
    load->eraseFromParent();
  for (User *marker : make_early_inc_range(variable->users())) // of its lifetime
    cast<Instruction>(marker)->eraseFromParent();
  variable->eraseFromParent();
}

unsigned cpu::promoteVariables(Function &function) {
  removeUnreachableBlocks(function); // loads there could have one another's value
  MapVector<AllocaInst *, Accesses> variables = variablesOf(function);
  for (auto &[variable, accesses] : variables)
    promote(variable, accesses);
  return variables.size();
}
