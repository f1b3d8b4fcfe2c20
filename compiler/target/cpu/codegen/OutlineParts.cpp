// Splits huge functions into several, since LLVM's time grows faster than a function.
// SPDX-License-Identifier: MIT
//
// Unrolled loops become nest after nest in one function. Register allocation, live intervals, loop passes and memory
// analyses all have steps that are quadratic in a function: 400 unrolled masked copies took minutes. What a block
// dominates has one entry, so that it can be a function whatever its exits are. Subtrees of the dominator tree are
// collected from its leaves upwards and leave as soon as they are large enough: each block is visited once.
#include "compiler/target/cpu/codegen/OutlineParts.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/Transforms/Utils/CodeExtractor.h"

#include <utility>
#include <vector>

using namespace llvm;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// Blocks that are in no part yet, each after those that it dominates.
struct Pending {
  std::vector<BasicBlock *> blocks;
  std::vector<BasicBlock *> calls; ///< calls of parts, which stay where they are, so that parts are not nested
  size_t size = 0;                 ///< of `blocks`, in instructions

  void append(Pending other) {
    if (other.blocks.size() > blocks.size())
      std::swap(blocks, other.blocks);
    blocks.insert(blocks.end(), other.blocks.begin(), other.blocks.end());
    calls.insert(calls.end(), other.calls.begin(), other.calls.end());
    size += other.size;
  }
  void add(BasicBlock *block) {
    blocks.push_back(block);
    size += block->size();
  }
};

class Outliner {
public:
  Outliner(Function &function, PartSizes sizes)
      : function(function), sizes(sizes), tree(function), loops(tree), cache(function) {}
  unsigned run();

private:
  void measureLoops();
  bool mayBegin(const BasicBlock *block) const;
  bool extract(Pending &pending, BasicBlock *root);

  Function &function;
  const PartSizes sizes;
  DominatorTree tree;
  LoopInfo loops;
  DenseMap<const Loop *, size_t> loopSizes;
  const CodeExtractorAnalysisCache cache; ///< without variables, which no part has
};

} // namespace

/// Blocks without a branch, such as those of scalars or of many lanes, are split first.
static void splitLargeBlocks(Function &function, unsigned most) {
  for (BasicBlock &block : make_early_inc_range(function)) {
    SmallVector<Instruction *> starts;
    unsigned size = 0;
    for (Instruction &instruction : block)
      if (++size % most == 0 && !isa<PHINode, AllocaInst>(instruction) && !instruction.isTerminator())
        starts.push_back(&instruction);
    for (Instruction *start : reverse(starts)) // what follows the last one moves once
      block.splitBasicBlock(start->getIterator());
  }
}

void Outliner::measureLoops() {
  for (const BasicBlock &block : function)
    for (const Loop *loop = loops.getLoopFor(&block); loop; loop = loop->getParentLoop())
      loopSizes[loop] += block.size();
}

/// Loops that are small enough stay whole.
bool Outliner::mayBegin(const BasicBlock *block) const {
  if (block == &function.getEntryBlock())
    return false;
  const Loop *loop = loops.getLoopFor(block); // the innermost one is the smallest
  return !loop || loopSizes.lookup(loop) > sizes.part;
}

/// Calls of parts after which blocks of the region run become part of it: a region has one entry. The others are
/// removed from the region's calls.
static std::vector<BasicBlock *> takeInnerCalls(Pending &pending, const BasicBlock *root) {
  SmallPtrSet<const BasicBlock *, 32> region(pending.blocks.begin(), pending.blocks.end());
  region.erase(root);
  std::vector<BasicBlock *> inner;
  for (bool isChanged = true; isChanged;) {
    isChanged = false;
    for (BasicBlock *&call : pending.calls)
      if (call && any_of(successors(call), [&](const BasicBlock *next) { return region.contains(next); })) {
        region.insert(call);
        inner.push_back(std::exchange(call, nullptr));
        isChanged = true;
      }
  }
  erase(pending.calls, nullptr);
  return inner;
}

/// Makes a function of the blocks, the last of which dominates all.
bool Outliner::extract(Pending &pending, BasicBlock *root) {
  const std::vector<BasicBlock *> inner = takeInnerCalls(pending, root);
  std::vector<BasicBlock *> blocks(pending.blocks.rbegin(), pending.blocks.rend());
  blocks.insert(blocks.end(), inner.begin(), inner.end());
  // LLVM 22 misaligns vectors that calls with hundreds of arguments pass on the stack: values pass in one structure.
  CodeExtractor extractor(blocks, nullptr, /*AggregateArgs=*/true, nullptr, nullptr, nullptr, /*AllowVarArgs=*/false,
                          /*AllowAlloca=*/false, nullptr, "part");
  Function *part = extractor.isEligible() ? extractor.extractCodeRegion(cache) : nullptr;
  if (!part) {
    pending.calls.insert(pending.calls.end(), inner.begin(), inner.end());
    return false;
  }
  pending.blocks.clear();
  pending.size = 0;
  pending.calls.push_back(cast<Instruction>(part->user_back())->getParent());
  if (root->getParent() == &function) // its phis of values from outside
    pending.add(root);
  return true;
}

unsigned Outliner::run() {
  measureLoops();
  DenseMap<const DomTreeNode *, Pending> pendingOf;
  unsigned parts = 0;
  for (const DomTreeNode *node : post_order(&tree)) {
    Pending pending;
    for (const DomTreeNode *child : node->children()) {
      pending.append(std::move(pendingOf[child]));
      pendingOf.erase(child);
    }
    BasicBlock *block = node->getBlock();
    pending.add(block);
    if (pending.size >= sizes.part && mayBegin(block) && extract(pending, block))
      ++parts;
    pendingOf[node] = std::move(pending);
  }
  return parts;
}

/// Values of AMX tiles cannot be passed to functions.
static bool hasTileRegisters(const Function &function) {
  return any_of(function, [](const BasicBlock &block) {
    return any_of(block, [](const Instruction &instruction) { return instruction.getType()->isX86_AMXTy(); });
  });
}

bool cpu::isHuge(const Function &function, PartSizes sizes) {
  return function.getInstructionCount() > sizes.largest && !hasTileRegisters(function);
}

bool cpu::hasHugeFunction(const Module &module, PartSizes sizes) {
  return any_of(module, [&](const Function &function) { return isHuge(function, sizes); });
}

unsigned cpu::outlineParts(Module &module, PartSizes sizes) {
  unsigned parts = 0;
  for (Function &function : make_early_inc_range(module))
    if (isHuge(function, sizes)) {
      splitLargeBlocks(function, sizes.part);
      parts += Outliner(function, sizes).run();
    }
  return parts;
}
