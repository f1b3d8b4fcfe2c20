// Preserves the value that every load has at its position in the program, though it is evaluated later.
// SPDX-License-Identifier: MIT
//
// A load is evaluated where it is used. If a store comes between the two, the load is either harmless (one nest, one
// address map: each chunk is read before it is written), or guarded (copied at run time where the ranges overlap), or
// kept in a buffer at its position. Before an atomic access it is always kept: code after one may run after other
// programs have written anywhere.
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"
#include "compiler/target/cpu/plan/Ranges.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

struct Write {
  Operation *op = nullptr; ///< a store or an atomic access
  unsigned step = 0;
  Nest *nest = nullptr; ///< if it is a root of this sequence
};

struct Evaluation {
  unsigned step = 0;
  Nest *nest = nullptr; ///< if it belongs to this sequence
  IndexMap map;
  bool isAfter = false; ///< in a pending nest between this step and the next
};

enum class AddressMatch { Identical, SameStrides, Unknown };

class LoadProtector {
public:
  LoadProtector(PlanContext &context, Sequence &sequence) : context(context), sequence(sequence) {}
  void run();

private:
  void collectWrites();
  void collectLoads();
  void collectLoads(Nest &nest, Evaluation at);
  bool protect(tt::LoadOp load, ArrayRef<Evaluation> evaluations);
  AddressMatch matchAddresses(tt::LoadOp load, const Evaluation &at, const Write &write);
  bool isKnown(Value scalar, unsigned step);
  bool isKnown(const Polynomial &poly, unsigned step);
  bool isRangeKnown(tt::StoreOp store, unsigned step);
  bool isGuardable(tt::LoadOp load, ArrayRef<const Write *> conflicts, unsigned step);
  void guard(tt::LoadOp load, ArrayRef<std::pair<const Write *, bool>> conflicts, unsigned step);
  bool reads(const Nest &nest, tt::LoadOp load);
  bool joins(tt::LoadOp load, const Nest &nest);
  void materialiseBefore(tt::LoadOp load, const Evaluation &firstUse, unsigned step);
  void insertPending();

  PlanContext &context;
  Sequence &sequence;
  std::vector<Write> writes;
  llvm::MapVector<Operation *, SmallVector<Evaluation>> loads;
  std::vector<std::pair<unsigned, Step>> pending; ///< steps to insert, with the index of the step that they precede
};

} // namespace

void LoadProtector::collectWrites() {
  for (auto [index, step] : llvm::enumerate(sequence.steps)) {
    auto addWrite = [&, index = index](Operation *op, Nest *nest) {
      writes.push_back({op, static_cast<unsigned>(index), nest});
    };
    if (step.op && step.kind != StepKind::Nest)
      step.op->walk([&](tt::MemoryAccessOpInterface access) {
        if (access.keepsOrder())
          addWrite(access, nullptr);
      });
    if (step.kind == StepKind::Nest)
      for (const Root &root : step.nest->roots) {
        if (root.isWrite())
          addWrite(root.op, step.nest.get());
        else if (root.op && root.kind != RootKind::Assign) // a function of scalars may write too
          for (Region &region : root.op->getRegions())
            region.walk([&](tt::MemoryAccessOpInterface access) {
              if (access.keepsOrder())
                addWrite(access, nullptr);
            });
      }
  }
}

void LoadProtector::collectLoads(Nest &nest, Evaluation at) {
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (context.plan.bufferOf.contains(value))
      return false;
    auto load = value.getDefiningOp<tt::LoadOp>();
    if (load && !map.empty() && load->getBlock() == sequence.block)
      loads[load].push_back({at.step, at.nest, map, at.isAfter});
    return true;
  });
  walk.nest(nest);
}

/// Where each load is evaluated, in the order of the steps. A load that only the address of a kept load needs is
/// evaluated in the nest that keeps that one.
void LoadProtector::collectLoads() {
  loads.clear();
  for (auto [index, step] : llvm::enumerate(sequence.steps)) {
    const auto number = static_cast<unsigned>(index);
    forEachNest(step, [&](Nest &nest) {
      collectLoads(nest, {number, sequence.steps[number].kind == StepKind::Nest ? &nest : nullptr, {}});
    });
    for (auto &[before, inserted] : pending)
      if (before == number + 1 && inserted.kind == StepKind::Nest)
        collectLoads(*inserted.nest, {number, nullptr, {}, /*isAfter=*/true});
  }
}

AddressMatch LoadProtector::matchAddresses(tt::LoadOp load, const Evaluation &at, const Write &write) {
  auto store = dyn_cast<tt::StoreOp>(write.op);
  if (!store || !at.nest || at.nest != write.nest || store.getPtr().getType() != load.getPtr().getType())
    return AddressMatch::Unknown;
  const AffineForm *source = context.affineInfo.affine(load.getPtr());
  if (!source)
    return AddressMatch::Unknown;
  const AffineForm from = *source;
  const AffineForm *to = context.affineInfo.affine(store.getPtr());
  if (!to || from.steps.size() != to->steps.size() || !isIdentity(tt::shapeOf(load.getType()), at.map, *at.nest))
    return AddressMatch::Unknown;
  if (from.steps != to->steps || !(from.start == to->start))
    return AddressMatch::Unknown;
  // Equal maps are harmless where no two indices share a byte: certain for one dimension of constant stride, tested at
  // run time for several.
  const int64_t size = storageBytes(tt::elementOf(load.getType()));
  unsigned loops = 0;
  bool isDistinct = true;
  for (auto [dim, stride] : llvm::enumerate(to->steps)) {
    if (at.nest->shape[dim] == 1)
      continue;
    const int64_t constant = stride.constant().value_or(0);
    isDistinct &= ++loops == 1 && (constant >= size || -constant >= size);
  }
  if (!isDistinct && loops == 1)
    return AddressMatch::Unknown;
  return isDistinct && from.base == to->base ? AddressMatch::Identical : AddressMatch::SameStrides;
}

/// Whether a scalar has been computed when the step begins.
bool LoadProtector::isKnown(Value scalar, unsigned step) {
  Operation *op = scalar.getDefiningOp();
  Block *block = scalar.getParentBlock();
  if (block != sequence.block) // an outer block's value is available, an inner one's is not
    return !sequence.block->findAncestorOpInBlock(*block->getParentOp());
  if (!op)
    return true;
  for (unsigned index = 0; index < step; ++index) {
    const Step &earlier = sequence.steps[index];
    if (earlier.op == op)
      return true;
    // The first values of a loop's tiles are assigned before the loop has run.
    if (earlier.nest && llvm::any_of(earlier.nest->roots,
                                     [&](const Root &root) { return root.op == op && root.kind != RootKind::Assign; }))
      return true;
  }
  return false;
}

bool LoadProtector::isKnown(const Polynomial &poly, unsigned step) {
  return context.affineInfo.allScalars(poly, [&](Value scalar) { return isKnown(scalar, step); });
}

/// Whether the bytes that a store may write can be computed when the step begins.
bool LoadProtector::isRangeKnown(tt::StoreOp store, unsigned step) {
  const std::optional<RangeExpr> range = addressRange(context.affineInfo, store);
  if (!range || !allScalars(*range, context.affineInfo, [&](Value scalar) { return isKnown(scalar, step); }))
    return false;
  Value mask = store.getMask();
  if (!mask || !isa<RankedTensorType>(mask.getType()))
    return true;
  const IndexMap map = identityMap(tt::shapeOf(mask.getType()).size());
  return llvm::all_of(conjuncts(context.affineInfo, mask, map),
                      [&](const Conjunct &part) { return !part.prefix || isKnown(part.prefix->bound, step); });
}

bool LoadProtector::isGuardable(tt::LoadOp load, ArrayRef<const Write *> conflicts, unsigned step) {
  if (load.getIsVolatile() || conflicts.size() > 4)
    return false;
  const std::optional<RangeExpr> range = addressRange(context.affineInfo, load);
  if (!range || !allScalars(*range, context.affineInfo, [&](Value scalar) { return isKnown(scalar, step); }))
    return false;
  return llvm::all_of(conflicts, [&](const Write *write) {
    auto store = dyn_cast<tt::StoreOp>(write->op);
    return store && isRangeKnown(store, step);
  });
}

void LoadProtector::guard(tt::LoadOp load, ArrayRef<std::pair<const Write *, bool>> conflicts, unsigned step) {
  Step guardStep;
  guardStep.kind = StepKind::Guard;
  guardStep.guard = std::make_unique<Guard>();
  guardStep.guard->load = load;
  guardStep.guard->copy = context.newBuffer(load.getType(), "copied");
  for (auto [write, sameIndex] : conflicts)
    guardStep.guard->conflicts.push_back({write->op, sameIndex});
  guardStep.nest = context.newNest(tt::shapeOf(load.getType()));
  guardStep.nest->isCopy = true;
  guardStep.nest->roots.push_back({RootKind::Materialise, load, load.getResult(), {guardStep.guard->copy}});
  pending.emplace_back(step, std::move(guardStep));
}

void LoadProtector::materialiseBefore(tt::LoadOp load, const Evaluation &firstUse, unsigned step) {
  Step &first = sequence.steps[firstUse.step];
  if (!firstUse.isAfter && firstUse.step < step && first.kind == StepKind::Nest && !first.nest->writesMemory() &&
      ArrayRef<int64_t>(first.nest->shape) == tt::shapeOf(load.getType())) {
    first.nest->roots.insert(first.nest->roots.begin(), context.materialiseRoot(load.getResult(), "materialised"));
    return;
  }
  const unsigned before = std::min(firstUse.step + firstUse.isAfter, step);
  for (auto &[position, other] : pending)
    if (position == before && other.kind == StepKind::Nest && joins(load, *other.nest)) {
      other.nest->roots.push_back(context.materialiseRoot(load.getResult(), "materialised"));
      return;
    }
  auto reader = llvm::find_if(pending, [&, before = before](const auto &entry) {
    return entry.first == before && entry.second.kind == StepKind::Nest && reads(*entry.second.nest, load);
  });
  pending.emplace(reader, before, context.materialiseStep(load.getResult(), "materialised"));
}

/// Whether a nest evaluates a load that is in no buffer yet.
bool LoadProtector::reads(const Nest &nest, tt::LoadOp load) {
  bool isRead = false;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    isRead |= value == load.getResult();
    return !context.plan.bufferOf.contains(value);
  });
  walk.nest(nest);
  return isRead;
}

/// Whether a nest that keeps other loads can keep this one, too, so that what their addresses have in common is
/// computed once: it reads nothing that the nest writes.
bool LoadProtector::joins(tt::LoadOp load, const Nest &nest) {
  if (ArrayRef<int64_t>(nest.shape) != tt::shapeOf(load.getType()))
    return false;
  bool readsResult = false;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    readsResult |= llvm::any_of(nest.roots, [&](const Root &root) { return root.value == value; });
    return !context.plan.bufferOf.contains(value);
  });
  walk.root({RootKind::Materialise, load, load.getResult(), {}});
  return !readsResult;
}

/// True if the load is now kept in a buffer.
bool LoadProtector::protect(tt::LoadOp load, ArrayRef<Evaluation> evaluations) {
  const unsigned lastUse = evaluations.back().step, position = context.positions.lookup(load);
  SmallVector<std::pair<const Write *, bool>> conflicts;
  bool isHoisted = false;
  for (const Write &write : writes) {
    if (context.positions.lookup(write.op) < position || write.step > lastUse)
      continue;
    AddressMatch match = AddressMatch::Unknown;
    if (write.step == lastUse && write.nest) {
      match = AddressMatch::Identical;
      for (const Evaluation &at : evaluations)
        if (at.step == lastUse)
          match = std::max(match, matchAddresses(load, at, write));
      isHoisted |= llvm::any_of(evaluations, [&](const Evaluation &at) { return at.nest == write.nest; });
    }
    if (match != AddressMatch::Identical)
      conflicts.push_back({&write, match == AddressMatch::SameStrides});
  }
  if (isHoisted)
    for (Write &write : writes)
      if (write.step == lastUse && write.nest && !llvm::is_contained(write.nest->hoistedReads, load.getResult()))
        write.nest->hoistedReads.push_back(load.getResult());
  if (conflicts.empty())
    return false;
  unsigned step = ~0u;
  SmallVector<const Write *> stores;
  for (auto [write, sameIndex] : conflicts) {
    step = std::min(step, write->step);
    stores.push_back(write);
  }
  if (isGuardable(load, stores, step)) {
    guard(load, conflicts, step);
    return false;
  }
  materialiseBefore(load, evaluations.front(), step);
  return true;
}

void LoadProtector::insertPending() {
  std::vector<Step> steps;
  for (unsigned index = 0; index < sequence.steps.size(); ++index) {
    for (auto &[before, step] : pending)
      if (before == index)
        steps.push_back(std::move(step));
    steps.push_back(std::move(sequence.steps[index]));
  }
  sequence.steps = std::move(steps);
}

void LoadProtector::run() {
  collectWrites();
  if (writes.empty())
    return;
  collectLoads();
  llvm::SmallPtrSet<Operation *, 16> seen;
  auto next = [&] { return llvm::find_if(loads, [&](const auto &entry) { return !seen.contains(entry.first); }); };
  for (auto entry = next(); entry != loads.end(); entry = next()) {
    seen.insert(entry->first);
    if (protect(cast<tt::LoadOp>(entry->first), entry->second))
      collectLoads();
  }
  insertPending();
}

void cpu::protectLoads(PlanContext &context, Sequence &sequence) {
  LoadProtector(context, sequence).run();
  for (Step &step : sequence.steps)
    for (Sequence &region : step.regions)
      protectLoads(context, region);
}
