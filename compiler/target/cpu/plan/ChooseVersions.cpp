// Decides which versions each nest is emitted in: of several, the kernel runs the first whose condition holds.
// SPDX-License-Identifier: MIT
//
// A left operand of a dot and a tile that is transposed are read from memory in place, and copied only where a part of
// them is masked or wraps. A dot reads that operand element by element, so its rows may have any stride, as may those
// of a transposed tile. No store comes between the copy and its use. The condition must be known before the nest: every
// mask of the load is a prefix, and what it addresses is affine.
//
// Where a compared addition may overflow its type, one version compares exactly. A nest that reads tiles which a guard
// may have copied, and whose addresses are not affine, has a version in which none has been: in the other each address
// is selected.
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// Follows the steps in the order in which they are emitted.
class VersionChooser {
public:
  explicit VersionChooser(PlanContext &context) : context(context), plan(context.plan) {}
  void visit(Sequence &sequence);

private:
  void visit(Step &step);
  void choose(Nest &nest);
  Operation *readInPlace(const Nest &nest);
  bool isWholeKnown(const Nest &nest, tt::LoadOp load);
  bool isReadAlong(tt::LoadOp load, unsigned dim);
  SmallVector<Operation *, 2> copiedLoads(const Nest &nest);
  void setWritten(const Nest &nest);

  PlanContext &context;
  LoopPlan &plan;
  llvm::DenseMap<Operation *, const Guard *> guards; ///< the guards before the current step, by load
  llvm::DenseSet<Value> written;                     ///< values whose buffers the steps so far have written
};
} // namespace

SmallVector<int64_t, 4> cpu::regularStrides(AffineInfo &affineInfo, Value pointer) {
  SmallVector<int64_t, 4> strides;
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    const auto step = chunkStep(affineInfo, pointer, identityMap(shape.size()), dim, extent);
    if (!step)
      return {};
    strides.push_back(*step);
  }
  return strides;
}

/// Whether it is known before the nest if its one load reads every element from memory.
bool VersionChooser::isWholeKnown(const Nest &nest, tt::LoadOp load) {
  if (nest.roots.size() != 1)
    return false;
  const size_t rank = tt::shapeOf(load.getType()).size();
  return !load.getMask() || llvm::all_of(conjuncts(context.affineInfo, load.getMask(), identityMap(rank)),
                                         [](const Conjunct &part) { return part.prefix.has_value(); });
}

/// Whether the load's elements along the dimension are adjacent in what it reads: memory, or the copy of a guard.
bool VersionChooser::isReadAlong(tt::LoadOp load, unsigned dim) {
  const int64_t size = storageBytes(tt::elementOf(load.getType()));
  const Guard *guard = guards.lookup(load);
  if (const AffineForm *form = context.affineInfo.affine(load.getPtr()); guard && form) {
    ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
    int64_t stride = size, strideOfDim = 0;
    plan.buffers[guard->copy].forEachDim(shape.size(), [&](size_t index) {
      strideOfDim = index == dim ? stride : strideOfDim;
      stride *= shape[index];
    });
    return strideOfDim == size && (form->steps[dim].constant() == size || shape[dim] == 1);
  }
  if (const AffineForm *form = context.affineInfo.assumed(load.getPtr()))
    return form->steps[dim].constant() == size;
  const SmallVector<int64_t, 4> strides = regularStrides(context.affineInfo, load.getPtr());
  return !strides.empty() && strides[dim] == size;
}

/// The load that the nest copies, where the copy's readers can read memory instead; else null.
Operation *VersionChooser::readInPlace(const Nest &nest) {
  if (nest.inPlace) {
    auto load = cast<tt::LoadOp>(nest.inPlace);
    const bool isElsewhere = plan.bufferOf.contains(load.getResult()) || guards.contains(load);
    return !isElsewhere && isWholeKnown(nest, load) ? nest.inPlace : nullptr;
  }
  const Root &root = nest.roots.front();
  if (!root.staging)
    return nullptr;
  auto load = root.value.getDefiningOp<tt::LoadOp>();
  return load && isWholeKnown(nest, load) && isReadAlong(load, plan.buffers[*root.staging].innermostDim())
             ? load.getOperation()
             : nullptr;
}

/// The loads that the nest evaluates, that may have been copied, and whose addresses are not affine.
SmallVector<Operation *, 2> VersionChooser::copiedLoads(const Nest &nest) {
  llvm::SmallSetVector<Operation *, 2> loads;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    if (plan.bufferOf.contains(value) && written.contains(value))
      return false;
    auto load = value.getDefiningOp<tt::LoadOp>();
    if (load && guards.contains(load) && !context.affineInfo.affine(load.getPtr()))
      loads.insert(load);
    return true;
  });
  walk.nest(nest);
  return llvm::to_vector<2>(loads);
}

void VersionChooser::choose(Nest &nest) {
  auto add = [&](VersionKind kind, ArrayRef<Operation *> ops) {
    nest.versions.push_back({kind, SmallVector<Operation *, 2>(ops)});
  };
  if (nest.keptOperand)
    add(VersionKind::Kept, {});
  if (Operation *load = readInPlace(nest))
    add(VersionKind::InPlace, load);
  llvm::SmallSetVector<Operation *, 2> comparisons;
  for (const NestMask &mask : nest.masks)
    if (mask.prefix.mayWrap)
      comparisons.insert(mask.compare.getDefiningOp());
  if (!comparisons.empty())
    add(VersionKind::Exact, comparisons.getArrayRef());
  if (const SmallVector<Operation *, 2> loads = copiedLoads(nest); !loads.empty())
    add(VersionKind::Uncopied, loads);
  if (nest.peeledLoop)
    add(VersionKind::FirstIteration, nest.peeledLoop);
}

/// Notes the values that later nests read from buffers that this one writes.
void VersionChooser::setWritten(const Nest &nest) {
  for (const Root &root : nest.roots) {
    if (root.kind == RootKind::Materialise)
      written.insert(root.value);
    else if (root.kind == RootKind::Op || isa<tt::ReshapeOp, tt::CatOp>(root.op))
      written.insert_range(root.op->getResults());
  }
}

void VersionChooser::visit(Step &step) {
  switch (step.kind) {
  case StepKind::Scalar:
    return;
  case StepKind::Nest:
    choose(*step.nest);
    return setWritten(*step.nest);
  case StepKind::Guard:
    guards[step.guard->load] = step.guard.get();
    return;
  case StepKind::Dot:
    written.insert(step.op->getResult(0));
    return;
  case StepKind::Control:
    if (step.regions.size() > step.op->getNumRegions()) // where the loop has no iteration: before it
      visit(step.regions.back());
    for (auto [region, sequence] : llvm::zip(step.op->getRegions(), step.regions)) {
      if (!region.empty())
        written.insert_range(region.getArguments());
      visit(sequence);
    }
    written.insert_range(step.op->getResults());
    return;
  }
}

void VersionChooser::visit(Sequence &sequence) {
  for (Step &step : sequence.steps)
    visit(step);
}

void cpu::chooseVersions(PlanContext &context, Sequence &sequence) { VersionChooser(context).visit(sequence); }
