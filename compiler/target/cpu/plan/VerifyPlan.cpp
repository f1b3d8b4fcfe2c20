// Verifies a plan, as MLIR's verifier does a module.
// SPDX-License-Identifier: MIT
//
// A buffer counts as written after a step where every way through the step writes it. The tile that a nest with a
// peeled first iteration updates is written by that nest itself.
#include "compiler/target/cpu/plan/VerifyPlan.h"

#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Lifetimes.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

class PlanVerifier {
public:
  PlanVerifier(const LoopPlan &plan, AffineInfo &affineInfo)
      : plan(plan), affineInfo(affineInfo), written(plan.buffers.size()) {}

  std::string run();

private:
  void isRowMajor(BufferId id);
  void tables();
  void sequence(const Sequence &sequence);
  void step(const Step &step);
  void control(const Step &step);
  void dot(const Step &step);
  void guard(const Step &step);
  void nest(const Nest &nest);
  void root(const Nest &nest, const Root &root);
  void reads(const Nest &nest);
  void order(const Nest &nest);
  void versions(const Nest &nest);
  void prefetches();
  void keptOperands();
  void arena();

  /// Keeps the first error.
  void fail(const llvm::Twine &text) {
    if (error.empty())
      error = text.str();
  }
  bool isBuffer(BufferId buffer, const llvm::Twine &user);
  void holds(BufferId buffer, Type tile, uint64_t offset, const llvm::Twine &user);
  void isWritten(BufferId buffer, const llvm::Twine &reader);
  void write(BufferId buffer) {
    if (buffer < written.size())
      written.set(buffer);
  }

  const LoopPlan &plan;
  AffineInfo &affineInfo;
  std::string error;
  llvm::BitVector written;
  llvm::DenseSet<unsigned> nestIds;
  llvm::DenseSet<Operation *> guarded; ///< loads whose guards have been passed
};

} // namespace

static std::string nameOf(BufferId buffer) { return "b" + std::to_string(buffer); }

static std::string nameOf(const Nest &nest) { return "nest " + std::to_string(nest.id); }

static int64_t elementsOf(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

//--- buffers -------------------------------------------------------------------------------

bool PlanVerifier::isBuffer(BufferId buffer, const llvm::Twine &user) {
  if (buffer < plan.buffers.size())
    return true;
  fail(user + " names " + nameOf(buffer) + ", which does not exist");
  return false;
}

void PlanVerifier::holds(BufferId buffer, Type tile, uint64_t offset, const llvm::Twine &user) {
  if (!isBuffer(buffer, user))
    return;
  const Buffer &memory = plan.buffers[buffer];
  if (memory.element != tt::elementOf(tile) ||
      static_cast<int64_t>(offset) + elementsOf(tt::shapeOf(tile)) > static_cast<int64_t>(memory.elements()))
    fail(user + " has a tile that " + nameOf(buffer) + " does not hold");
}

void PlanVerifier::isWritten(BufferId buffer, const llvm::Twine &reader) {
  if (isBuffer(buffer, reader) && !written.test(buffer))
    fail(reader + " reads " + nameOf(buffer) + " before it is written");
}

/// Code that reads or writes a tile as a whole knows no other order of its elements.
void PlanVerifier::isRowMajor(BufferId id) {
  const Buffer &buffer = plan.buffers[id];
  if (buffer.shape.size() > 1 && buffer.innermostDim() + 1 != buffer.shape.size())
    fail(nameOf(id) + " is accessed as a whole and is not row-major");
}

/// The tables of the plan name existing buffers.
void PlanVerifier::tables() {
  for (auto [value, buffer] : plan.bufferOf)
    holds(buffer, value.getType(), 0, "a value");
  for (auto [op, buffer] : plan.wholeOperands) {
    holds(buffer, indexedOperand(op)->source.getType(), 0, "a gather");
    isRowMajor(buffer);
  }
  llvm::BitVector carriedByFor(plan.buffers.size());
  for (const auto *table : {&plan.carried, &plan.forwarded, &plan.operandsOf})
    for (const auto &[op, buffers] : *table)
      for (std::optional<BufferId> buffer : buffers)
        if (buffer && isBuffer(*buffer, op->getName().getStringRef())) {
          if (table == &plan.carried && isa<scf::ForOp>(op))
            carriedByFor.set(*buffer);
          if (table == &plan.operandsOf)
            isRowMajor(*buffer);
        }
  for (auto [id, buffer] : llvm::enumerate(plan.buffers)) {
    if (buffer.isDouble && !carriedByFor.test(id))
      fail(nameOf(id) + " is double, and no scf.for carries it");
    if (buffer.innermost >= static_cast<int>(buffer.shape.size()))
      fail(nameOf(id) + " has an innermost dimension that does not exist");
  }
}

void PlanVerifier::arena() {
  const std::vector<LiveRange> liveRanges = liveRangesOf(plan, affineInfo);
  for (auto [id, buffer] : llvm::enumerate(plan.buffers)) {
    if (buffer.offset + buffer.allBytes() > plan.arenaBytes)
      fail(nameOf(id) + " ends after the arena");
    if (buffer.bytes < buffer.bytesOfTile())
      fail(nameOf(id) + " has fewer bytes than its elements");
    for (unsigned other = 0; other < id; ++other) {
      const Buffer &before = plan.buffers[other];
      if (liveRanges[id].overlaps(liveRanges[other]) && buffer.offset < before.offset + before.allBytes() &&
          before.offset < buffer.offset + buffer.allBytes())
        fail(nameOf(other) + " and " + nameOf(id) + " overlap in the arena while both are live");
    }
  }
}

//--- nests ---------------------------------------------------------------------------------

void PlanVerifier::root(const Nest &nest, const Root &root) {
  const std::string name = nameOf(nest);
  if (shapeOfRoot(root) != ArrayRef<int64_t>(nest.shape))
    fail(name + " has a root of another shape");
  if ((root.kind == RootKind::Op) != (root.traits != nullptr))
    fail(name + " has an op as root that is not in the table");
  if (root.axis() >= 0 && root.axis() != nest.axis())
    fail(name + " has roots of different axes");
  if (root.kind != RootKind::Op) {
    if (root.buffers.size() != 1)
      fail(name + " keeps a tile in no buffer");
    else
      holds(root.buffers.front(), root.value.getType(), root.offset, name);
    if (root.staging && (!isBuffer(*root.staging, name) ||
                         plan.buffers[*root.staging].shape != plan.buffers[root.buffers.front()].shape))
      return fail(name + " stages a tile in a buffer of another shape");
    if (root.kind == RootKind::Materialise && !isComputable(root.value.getDefiningOp()))
      fail(name + " keeps a tile that it cannot compute");
    return;
  }
  SmallVector<Value> tiles;
  llvm::copy_if(root.op->getResults(), std::back_inserter(tiles),
                [&](Value value) { return isa<RankedTensorType>(value.getType()) && plan.bufferOf.contains(value); });
  if (tiles.size() != root.buffers.size())
    return fail(name + " has a root whose buffers are not those of its results");
  for (auto [value, buffer] : llvm::zip_equal(tiles, root.buffers))
    holds(buffer, value.getType(), 0, name);
}

/// Every tile of the nest's expressions has a buffer that has been written, or can be computed.
void PlanVerifier::reads(const Nest &nest) {
  const std::string name = nameOf(nest);
  ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
    if (!isa<RankedTensorType>(value.getType()))
      return true;
    Operation *op = value.getDefiningOp();
    if (indexedOperand(op)) {
      auto source = plan.wholeOperands.find(op);
      if (source == plan.wholeOperands.end())
        fail(name + " gathers from a tile that is in no buffer");
      else
        isWritten(source->second, name);
    }
    auto found = plan.bufferOf.find(value);
    if (found == plan.bufferOf.end() && !isComputable(op))
      fail(name + " reads a tile that is neither computable nor in a buffer");
    if (found == plan.bufferOf.end() || !isRead(plan, nest, value))
      return true;
    const bool isInitial = llvm::any_of(nest.initial, [&](const auto &tile) { return tile.first == value; });
    if (!isComputable(op) && !isInitial)
      isWritten(found->second, name);
    return !written.test(found->second) && !isInitial; // computed where it is not written yet
  });
  walk.nest(nest);
}

void PlanVerifier::order(const Nest &nest) {
  const std::string name = nameOf(nest);
  SmallVector<unsigned> wanted, dims(nest.order.begin(), nest.order.end());
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent != 1)
      wanted.push_back(dim);
  llvm::sort(dims);
  if (dims != wanted)
    return fail(name + " has an order that is no permutation of its loops");
  if (wanted.empty())
    return;
  if (nest.vectorDim < 0 || !llvm::is_contained(wanted, static_cast<unsigned>(nest.vectorDim)))
    return fail(name + " has no loop over its vector dimension");
  if (!llvm::isPowerOf2_32(nest.lanes) || nest.lanes > 64 ||
      nest.shape[nest.vectorDim] % (nest.lanes * nest.equalElements) != 0)
    fail(name + " has " + llvm::Twine(nest.lanes) + " lanes, which do not divide its vector dimension");
  else if (!llvm::isPowerOf2_32(nest.maskedLanes) || nest.maskedLanes > nest.lanes)
    fail(name + " has " + llvm::Twine(nest.maskedLanes) + " lanes under masks, which do not divide its lanes");
}

/// Each case that needs a version of its own has one, with the ops that its test needs.
void PlanVerifier::versions(const Nest &nest) {
  const std::string name = nameOf(nest);
  auto find = [&](VersionKind kind) {
    return llvm::find_if(nest.versions, [&](const NestVersion &version) { return version.kind == kind; });
  };
  auto has = [&](VersionKind kind) { return find(kind) != nest.versions.end(); };
  for (const NestVersion &version : nest.versions) {
    if (find(version.kind) != &version)
      return fail(name + " has two versions for one case");
    if (version.ops.empty() != (version.kind == VersionKind::Kept))
      return fail(name + " has a version that nothing chooses");
  }
  if (has(VersionKind::Kept) != nest.keptOperand.has_value())
    fail(name + " has no version for a kept tile, or for one that it does not make");
  if (has(VersionKind::FirstIteration) != (nest.peeledLoop != nullptr))
    fail(name + " has no version for a first iteration, or for one that is not peeled");
  const bool isCopying = nest.roots.size() == 1 && (nest.inPlace || nest.roots.front().staging);
  if (has(VersionKind::InPlace) && !isCopying)
    fail(name + " has a version without its copy, but copies nothing");
  const bool mayWrap = llvm::any_of(nest.masks, [](const NestMask &mask) { return mask.prefix.mayWrap; });
  if (has(VersionKind::Exact) != mayWrap)
    fail(name + " has no version for sums that overflow, or for sums that do not");
  if (auto uncopied = find(VersionKind::Uncopied); uncopied != nest.versions.end())
    for (Operation *load : uncopied->ops)
      if (!guarded.contains(load))
        fail(name + " has a version without a copy that no guard makes");
}

void PlanVerifier::nest(const Nest &nest) {
  if (!nestIds.insert(nest.id).second)
    fail(nameOf(nest) + " exists twice");
  if (nest.roots.empty())
    return fail(nameOf(nest) + " has no root");
  for (const Root &root : nest.roots)
    this->root(nest, root);
  if (!error.empty())
    return;
  reads(nest);
  if (plan.state >= PlanState::Vectorised)
    order(nest);
  if (plan.state >= PlanState::Versioned && !nest.isCopy)
    versions(nest);
  for (const Root &root : nest.roots)
    llvm::for_each(root.buffers, [&](BufferId buffer) { write(buffer); });
}

//--- steps ---------------------------------------------------------------------------------

void PlanVerifier::guard(const Step &step) {
  if (!step.guard || !step.nest || !step.guard->load || step.guard->conflicts.empty())
    return fail("a guard has no load, copy or store");
  holds(step.guard->copy, step.guard->load->getResult(0).getType(), 0, "a guard");
  if (step.nest->roots.size() != 1 || step.nest->roots.front().op != step.guard->load ||
      step.nest->roots.front().buffers.front() != step.guard->copy)
    return fail("a guard's nest does not copy its load");
  nest(*step.nest);
  guarded.insert(step.guard->load);
}

void PlanVerifier::dot(const Step &step) {
  auto op = dyn_cast_or_null<tt::DotOp>(step.op);
  if (!op || !step.dot)
    return fail("a dot has no op or operands");
  const TileDot &dot = *step.dot;
  holds(dot.a.buffer, op.getA().getType(), 0, "a dot");
  holds(dot.b.buffer, op.getB().getType(), 0, "a dot");
  holds(dot.d, op.getType(), 0, "a dot");
  if (!error.empty())
    return;
  for (BufferId whole : {dot.a.buffer, dot.b.buffer, dot.d})
    isRowMajor(whole);
  for (std::optional<BufferId> own : {dot.packed, dot.unsignedA, dot.columnSums})
    if (own && !isBuffer(*own, "a dot"))
      return;
  if (dot.form.needsUnsignedA() != (dot.unsignedA && dot.columnSums))
    return fail("a dot has the wrong buffers for its form");
  if (dot.iterations > 1 && !isOnlyCarried(op))
    return fail("a dot waits for the next iteration, but its result does not");
  if (dot.iterations > 1 && !(dot.form.usesTiles && dot.packed && plan.isKept(*dot.packed, op->getParentOp())))
    return fail("a dot waits for the next iteration, but its right operand is not kept");
  isWritten(dot.a.buffer, "a dot");
  isWritten(dot.b.buffer, "a dot");
  if (!dot.startsAtZero)
    isWritten(dot.d, "a dot");
  write(dot.d);
}

void PlanVerifier::control(const Step &step) {
  if (!step.op || step.regions.size() < step.op->getNumRegions())
    return fail("control flow has no op or fewer regions than it");
  const llvm::BitVector before = written;
  if (isa<scf::IfOp, scf::IndexSwitchOp>(step.op)) {
    llvm::BitVector all(written.size(), true);
    for (const Sequence &region : step.regions) {
      written = before;
      sequence(region);
      all &= written;
    }
    written = all;
    return;
  }
  // A loop's results are what it carries or forwards, whose buffers are written before it, too, or for no iteration.
  for (const Sequence &region : step.regions) {
    const bool isForNone = isa<scf::ForOp>(step.op) && &region != &step.regions.front();
    llvm::BitVector after = written;
    if (isForNone)
      written = before;
    sequence(region);
    written |= after;
  }
}

void PlanVerifier::step(const Step &step) {
  switch (step.kind) {
  case StepKind::Scalar:
    if (!step.op)
      return fail("a scalar step has no op");
    for (std::optional<BufferId> buffer : plan.operandsOf.lookup(step.op))
      if (buffer)
        isWritten(*buffer, step.op->getName().getStringRef());
    return;
  case StepKind::Nest:
    return step.nest ? nest(*step.nest) : fail("a step has no nest");
  case StepKind::Guard:
    return guard(step);
  case StepKind::Dot:
    return dot(step);
  case StepKind::Control:
    return control(step);
  }
}

void PlanVerifier::sequence(const Sequence &sequence) {
  for (const Step &step : sequence.steps)
    if (error.empty())
      this->step(step);
}

/// One nest makes each kept operand, which one dot reads: the nest's copy, or what it packs the copy into.
void PlanVerifier::keptOperands() {
  SmallVector<unsigned> makers(plan.keptOperands.size()), readers(plan.keptOperands.size());
  SmallVector<BufferId> copies(plan.keptOperands.size());
  auto visit = [&](llvm::function_ref<void(const Step &)> visitStep) {
    for (const Step &step : plan.body.steps)
      forEachStep(step, visitStep);
  };
  visit([&](const Step &step) {
    if (step.kind != StepKind::Nest || !step.nest->keptOperand)
      return;
    const unsigned index = *step.nest->keptOperand;
    if (index >= makers.size() || step.nest->roots.size() != 1)
      return fail(nameOf(*step.nest) + " makes a kept operand that does not exist, or more than that");
    ++makers[index];
    copies[index] = step.nest->roots.front().buffers.front();
  });
  visit([&](const Step &step) {
    if (!step.dot)
      return;
    const TileDot &dot = *step.dot;
    for (auto [index, operand] : llvm::enumerate(plan.keptOperands)) {
      readers[index] += dot.a.buffer == copies[index] && operand.tiles == copies[index];
      readers[index] += dot.b.buffer == copies[index] && operand.tiles == dot.packed.value_or(copies[index]);
    }
  });
  for (auto [index, operand] : llvm::enumerate(plan.keptOperands)) {
    const std::string name = "kept operand " + std::to_string(index);
    if (!isBuffer(operand.tiles, name) || !isBuffer(operand.keys, name))
      return;
    if (plan.buffers[operand.keys].shape !=
        ArrayRef<int64_t>({KeptOperand::keyCount(plan.buffers[operand.tiles].tiles), operand.wordsOfKey()}))
      fail(name + " has keys for other tiles or scalars");
    if (makers[index] != 1 || readers[index] != 1)
      fail(name + " has " + llvm::Twine(makers[index]) + " nests and " + llvm::Twine(readers[index]) + " dots");
  }
}

/// Each prefetched tile is one of the loop's, or of the program's own, and what prefetches it is there.
void PlanVerifier::prefetches() {
  for (const auto &[loop, prefetches] : plan.prefetches) {
    const std::string name = loop ? "a loop" : "a program";
    if (loop && !isa<scf::ForOp>(loop))
      return fail("a loop that is no scf.for prefetches");
    bool usesDot = false;
    for (const Prefetch &tile : prefetches.tiles) {
      usesDot |= tile.dot != nullptr;
      if (!isa_and_nonnull<tt::LoadOp, tt::StoreOp>(tile.access) || (loop && !loop->isAncestor(tile.access)))
        return fail(name + " prefetches a tile that it does not access");
      if (tile.distance.isZero())
        fail(name + " prefetches the tile that it has");
      if (!nestIds.contains(tile.nest))
        fail(name + " prefetches in a nest that does not exist");
      if (tile.dot && !(isa<tt::DotOp>(tile.dot) && tile.dot->getParentOp() == loop))
        fail(name + " prefetches in a dot of another loop");
    }
    if (prefetches.storeAfter && (!usesDot || !isa<tt::StoreOp>(prefetches.storeAfter)))
      fail(name + " prefetches what is stored after it, without a dot or a store");
  }
}

std::string PlanVerifier::run() {
  tables();
  if (error.empty())
    sequence(plan.body);
  if (error.empty())
    keptOperands();
  if (error.empty())
    prefetches();
  if (error.empty() && plan.state >= PlanState::Allocated)
    arena();
  return error;
}

std::string cpu::findError(const LoopPlan &plan, AffineInfo &affineInfo) {
  return PlanVerifier(plan, affineInfo).run();
}
