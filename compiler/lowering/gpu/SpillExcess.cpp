// Stores values to local memory and loads them again, before a register allocator has to; docs/why/excess-registers.md.
// SPDX-License-Identifier: MIT
//
// A basic block is walked once. Of the values in registers the one whose next use is farthest away goes to memory when
// there are more than the limit (Belady). What crosses basic blocks goes there at its definition, if it is too much:
//
//   a = load ..; ..; use a   ->   a = load ..; store volatile a, slot; ..; a' = load volatile slot; use a'
//
// Accesses are volatile: LLVM's and the assembler's passes would otherwise take the values back into registers.
#include "compiler/lowering/gpu/SpillExcess.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <map>
#include <set>

using namespace llvm;
using namespace nereid;

//--- which values --------------------------------------------------------------------------

static unsigned registersOf(const Value *value, const DataLayout &layout) {
  return divideCeil(layout.getTypeSizeInBits(value->getType()).getFixedValue(), 32);
}

static bool hasSlotType(Type *type) {
  Type *scalar = type->getScalarType();
  return (scalar->isIntegerTy() || scalar->isFloatingPointTy() || scalar->isPointerTy()) &&
         !isa<ScalableVectorType>(type);
}

/// Accumulators of wgmma are in flight from its start to its wait, and must not be stored between.
static bool isAsynchronous(const Value *value) {
  auto *call = dyn_cast<CallBase>(value);
  auto *assembly = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return assembly && StringRef(assembly->getAsmString()).contains("wgmma");
}

static bool touchesAsynchronous(const Instruction &instruction) {
  auto *extract = dyn_cast<ExtractValueInst>(&instruction);
  return (extract && isAsynchronous(extract->getAggregateOperand())) || isAsynchronous(&instruction) ||
         any_of(instruction.users(), [](const User *user) { return isAsynchronous(user); });
}

namespace {
class Spiller {
public:
  Spiller(Function &function, const UniformityInfo *uniformity, lowering::SpillLimits limits);
  unsigned peak() const;
  /// The accesses that walks over all basic blocks would insert; changes nothing. For a Spiller that does not run.
  uint64_t countAccesses();
  void run();

private:
  /// A value in a basic block, with its uses there from `next` on.
  struct Local {
    Value *inRegister = nullptr; ///< null: only in memory
    int slot = -1;
    Type *type = nullptr;
    bool keepsSlot = false; ///< other basic blocks read it, too
    unsigned registers = 0;
    SmallVector<std::pair<unsigned, Use *>, 2> uses;
    unsigned next = 0;

    unsigned nextUse() const { return next < uses.size() ? uses[next].first : ~0u; }
  };

  bool canSpill(const Instruction &instruction) const { return candidates.contains(&instruction); }
  bool leavesBlock(const Instruction &instruction) const;
  unsigned peakOf(const BasicBlock &block) const;
  void splitPhis(BasicBlock &block);
  void spillAcrossBlocks(Instruction &value);

  void walk(BasicBlock &block);
  MapVector<Value *, Local> localsOf(BasicBlock &block);
  void makeRoom(unsigned registers, unsigned now, Instruction *before);
  void keep(Local &local);
  void use(Local &local, unsigned now, Instruction *before);

  int newSlot(Type *type);
  unsigned slotBytes(Type *type) const;
  Value *copyOf(IRBuilder<> &ir, Value *address) const;
  Value *addressOf(IRBuilder<> &ir, int slot);
  void store(Value *value, int slot, Instruction *before);
  Instruction *load(Type *type, int slot, Instruction *before);
  void finish();

  Function &function;
  const DataLayout &layout;
  const lowering::SpillLimits limits;
  bool isCounting = false; ///< accesses are counted, not inserted
  uint64_t accesses = 0;
  DenseSet<const Instruction *> candidates;
  DenseMap<const Instruction *, int> slotOfReload; ///< of values that cross basic blocks
  // The block that is walked:
  std::set<std::pair<unsigned, Local *>> inRegisters; ///< by next use
  unsigned live = 0;
  // All slots:
  AllocaInst *memory = nullptr; ///< of one byte until its size is known
  Value *base = nullptr;        ///< its address, or the copy
  int bytes = 0;
  std::map<unsigned, SmallVector<int>> freeSlots; ///< by size
};
} // namespace

Spiller::Spiller(Function &function, const UniformityInfo *uniformity, lowering::SpillLimits limits)
    : function(function), layout(function.getParent()->getDataLayout()), limits(limits) {
  for (Instruction &instruction : instructions(function))
    if (!instruction.use_empty() && hasSlotType(instruction.getType()) && !isa<AllocaInst>(instruction) &&
        !touchesAsynchronous(instruction) && (!uniformity || uniformity->isDivergent(&instruction)))
      candidates.insert(&instruction);
}

/// Uses by phis of successors are at the end of the block.
bool Spiller::leavesBlock(const Instruction &instruction) const {
  return any_of(instruction.uses(), [&](const Use &use) {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    return (phi ? phi->getIncomingBlock(use) : user->getParent()) != instruction.getParent();
  });
}

//--- the peak ------------------------------------------------------------------------------

unsigned Spiller::peakOf(const BasicBlock &block) const {
  unsigned live = 0, peak = 0;
  DenseMap<const Instruction *, unsigned> usesLeft;
  for (const Instruction &instruction : block) {
    for (const Use &use : instruction.operands())
      if (auto entry = usesLeft.find(dyn_cast<Instruction>(use.get()));
          !isa<PHINode>(instruction) && entry != usesLeft.end() && --entry->second == 0)
        live -= registersOf(use.get(), layout);
    if (!canSpill(instruction))
      continue;
    usesLeft[&instruction] = instruction.getNumUses(); // those of phis and of other blocks are not reached
    peak = std::max(peak, live += registersOf(&instruction, layout));
  }
  return peak;
}

unsigned Spiller::peak() const {
  unsigned peak = 0;
  for (const BasicBlock &block : function)
    peak = std::max(peak, peakOf(block));
  return peak;
}

//--- slots ---------------------------------------------------------------------------------

unsigned Spiller::slotBytes(Type *type) const {
  return std::max<unsigned>(4, PowerOf2Ceil(layout.getTypeStoreSize(type).getFixedValue()));
}

int Spiller::newSlot(Type *type) {
  const unsigned size = slotBytes(type);
  if (SmallVector<int> &free = freeSlots[size]; !free.empty())
    return free.pop_back_val();
  const int slot = alignTo(bytes, std::min(size, 16u));
  bytes = slot + size;
  return slot;
}

/// NVPTX and AMDGPU both number local memory 5.
static constexpr unsigned kLocalMemory = 5;

Value *Spiller::copyOf(IRBuilder<> &ir, Value *address) const {
  Type *type = PointerType::get(ir.getContext(), kLocalMemory);
  FunctionType *signature = FunctionType::get(type, {type}, /*isVarArg=*/false);
  InlineAsm *copy = InlineAsm::get(signature, limits.copyAddress, limits.copyConstraints, /*hasSideEffects=*/false);
  return ir.CreateCall(copy, {ir.CreateAddrSpaceCast(address, type)});
}

Value *Spiller::addressOf(IRBuilder<> &ir, int slot) {
  if (!base) {
    IRBuilder<> atEntry(&function.getEntryBlock(), function.getEntryBlock().getFirstInsertionPt());
    memory = atEntry.CreateAlloca(ir.getInt8Ty(), layout.getAllocaAddrSpace(), nullptr, "spilled");
    base = limits.copyAddress ? copyOf(atEntry, memory) : memory;
  }
  return ir.CreateConstInBoundsGEP1_32(ir.getInt8Ty(), base, slot);
}

/// Predicates are stored as bytes.
static Type *storedType(Type *type) { return type->isIntOrIntVectorTy(1) ? type->getWithNewBitWidth(8) : type; }

void Spiller::store(Value *value, int slot, Instruction *before) {
  ++accesses;
  if (isCounting)
    return;
  IRBuilder<> ir(before);
  Type *type = storedType(value->getType());
  Value *stored = type == value->getType() ? value : ir.CreateZExt(value, type);
  ir.CreateAlignedStore(stored, addressOf(ir, slot), Align(std::min(slotBytes(type), 16u)), /*isVolatile=*/true);
}

Instruction *Spiller::load(Type *type, int slot, Instruction *before) {
  ++accesses;
  if (isCounting)
    return before; // stands for the loaded value
  IRBuilder<> ir(before);
  Type *stored = storedType(type);
  Instruction *loaded =
      ir.CreateAlignedLoad(stored, addressOf(ir, slot), Align(std::min(slotBytes(stored), 16u)), /*isVolatile=*/true);
  return stored == type ? loaded : cast<Instruction>(ir.CreateTrunc(loaded, type));
}

void Spiller::finish() {
  if (!memory)
    return;
  memory->setAllocatedType(ArrayType::get(Type::getInt8Ty(function.getContext()), bytes));
  memory->setAlignment(Align(16));
}

//--- across basic blocks -------------------------------------------------------------------

static Instruction *afterPhis(BasicBlock &block) { return &*block.getFirstNonPHIIt(); }

/// A phi becomes a value that its predecessors store. All are loaded before any is stored again.
void Spiller::splitPhis(BasicBlock &block) {
  SmallVector<PHINode *> phis;
  for (PHINode &phi : block.phis())
    if (canSpill(phi))
      phis.push_back(&phi);
  Instruction *start = afterPhis(block);
  for (PHINode *phi : phis) {
    const int slot = newSlot(phi->getType());
    SmallPtrSet<BasicBlock *, 4> stored;
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      if (BasicBlock *from = phi->getIncomingBlock(i); stored.insert(from).second)
        store(phi->getIncomingValue(i), slot, from->getTerminator());
    Instruction *value = load(phi->getType(), slot, start);
    candidates.insert(value);
    phi->replaceAllUsesWith(value);
    candidates.erase(phi);
    phi->eraseFromParent();
  }
}

/// Stores the value where it is defined, and loads it once in every other block that uses it.
void Spiller::spillAcrossBlocks(Instruction &value) {
  MapVector<BasicBlock *, SmallVector<Use *>> elsewhere;
  for (Use &use : value.uses()) {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    BasicBlock *block = phi ? phi->getIncomingBlock(use) : user->getParent();
    if (block != value.getParent())
      elsewhere[block].push_back(&use);
  }
  const int slot = newSlot(value.getType());
  store(&value, slot, isa<PHINode>(value) ? afterPhis(*value.getParent()) : value.getNextNode());
  slotOfReload[&value] = slot;
  for (auto &[block, uses] : elsewhere) {
    Instruction *first = block->getTerminator();
    for (Use *use : uses)
      if (auto *user = cast<Instruction>(use->getUser()); !isa<PHINode>(user) && user->comesBefore(first))
        first = user;
    Instruction *loaded = load(value.getType(), slot, first);
    candidates.insert(loaded);
    slotOfReload[loaded] = slot;
    for (Use *use : uses)
      use->set(loaded);
  }
}

//--- within a basic block ------------------------------------------------------------------

MapVector<Value *, Spiller::Local> Spiller::localsOf(BasicBlock &block) {
  DenseMap<const Instruction *, unsigned> positions;
  for (Instruction &instruction : block)
    positions.try_emplace(&instruction, positions.size());
  MapVector<Value *, Local> locals;
  for (Instruction &instruction : block) {
    if (!canSpill(instruction))
      continue;
    Local local;
    local.type = instruction.getType();
    local.registers = registersOf(&instruction, layout);
    if (auto known = slotOfReload.find(&instruction); known != slotOfReload.end()) {
      local.slot = known->second;
      local.keepsSlot = true;
    }
    for (Use &use : instruction.uses()) {
      auto *user = cast<Instruction>(use.getUser());
      auto *phi = dyn_cast<PHINode>(user);
      if (phi && phi->getIncomingBlock(use) == &block)
        local.uses.emplace_back(positions.lookup(block.getTerminator()), &use);
      else if (!phi && user->getParent() == &block)
        local.uses.emplace_back(positions.lookup(user), &use);
      else
        local.uses.emplace_back(~0u - 1, nullptr); // stays in a register to the end
    }
    llvm::sort(local.uses, llvm::less_first());
    locals.insert({&instruction, std::move(local)});
  }
  return locals;
}

void Spiller::keep(Local &local) {
  live += local.registers;
  inRegisters.insert({local.nextUse(), &local});
}

/// Sends the values to memory that are used last after this instruction.
void Spiller::makeRoom(unsigned registers, unsigned now, Instruction *before) {
  while (live + registers > limits.perBlock && !inRegisters.empty()) {
    const auto last = std::prev(inRegisters.end());
    Local &local = *last->second;
    if (last->first <= now)
      return;
    if (local.slot < 0) {
      local.slot = newSlot(local.type);
      store(local.inRegister, local.slot, before);
    }
    local.inRegister = nullptr;
    live -= local.registers;
    inRegisters.erase(last);
  }
}

/// Brings a value back if it is in memory, for its uses by this instruction.
void Spiller::use(Local &local, unsigned now, Instruction *before) {
  if (local.inRegister) {
    inRegisters.erase({now, &local});
    live -= local.registers;
  } else {
    makeRoom(local.registers, now, before);
    local.inRegister = load(local.type, local.slot, before);
  }
  for (; local.nextUse() == now; ++local.next)
    if (!isCounting)
      local.uses[local.next].second->set(local.inRegister);
  if (local.next < local.uses.size())
    return keep(local);
  if (local.slot >= 0 && !local.keepsSlot)
    freeSlots[slotBytes(local.type)].push_back(local.slot);
}

void Spiller::walk(BasicBlock &block) {
  MapVector<Value *, Local> locals = localsOf(block);
  std::map<unsigned, SmallVector<Local *, 4>> usedAt;
  for (auto &[value, local] : locals)
    for (unsigned last = ~0u; auto &[position, use] : local.uses)
      if (use && position != last)
        usedAt[last = position].push_back(&local);
  inRegisters.clear();
  live = 0;
  unsigned now = 0;
  SmallVector<Instruction *, 0> order;
  for (Instruction &instruction : block)
    order.push_back(&instruction);
  for (Instruction *instruction : order) {
    Instruction *before = isa<PHINode>(instruction) ? afterPhis(block) : instruction;
    if (auto used = usedAt.find(now); used != usedAt.end())
      for (Local *local : used->second)
        use(*local, now, before);
    if (auto found = locals.find(instruction); found != locals.end()) {
      makeRoom(found->second.registers, now, before);
      found->second.inRegister = instruction;
      keep(found->second);
    }
    ++now;
  }
}

/// Fields of a result are separate values from its definition on.
static void moveFieldsToDefinitions(BasicBlock &block) {
  for (Instruction &instruction : make_early_inc_range(block))
    if (auto *field = dyn_cast<ExtractValueInst>(&instruction))
      if (auto *whole = dyn_cast<Instruction>(field->getAggregateOperand()); whole && !isa<PHINode>(whole))
        field->moveAfter(whole);
}

uint64_t Spiller::countAccesses() {
  isCounting = true;
  for (BasicBlock &block : function)
    walk(block);
  return accesses;
}

void Spiller::run() {
  for (BasicBlock &block : function)
    moveFieldsToDefinitions(block);
  unsigned crossing = 0;
  for (BasicBlock &block : function) {
    unsigned merged = 0;
    for (PHINode &phi : block.phis())
      merged += canSpill(phi) ? registersOf(&phi, layout) : 0;
    if (merged > limits.perBlock)
      splitPhis(block);
  }
  SmallVector<Instruction *, 0> leaving;
  for (Instruction &instruction : instructions(function))
    if (canSpill(instruction) && leavesBlock(instruction)) {
      leaving.push_back(&instruction);
      crossing += registersOf(&instruction, layout);
    }
  if (crossing > limits.perBlock)
    for (Instruction *value : leaving)
      spillAcrossBlocks(*value);
  for (BasicBlock &block : function)
    walk(block);
  finish();
}

unsigned nereid::lowering::spillExcess(Function &function, const UniformityInfo *uniformity, SpillLimits limits) {
  Spiller spiller(function, uniformity, limits);
  const unsigned peak = spiller.peak();
  if (peak <= limits.excess)
    return peak;
  Spiller counter(function, uniformity, limits);
  if (counter.countAccesses() <= uint64_t{limits.accesses} * peak)
    spiller.run();
  return peak;
}
