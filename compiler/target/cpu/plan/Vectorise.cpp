// Chooses how each nest runs: the vectorised dimension, the number of lanes, the order of loops.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Combiner.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// Access counts and properties of a nest's elements.
struct AccessCounts {
  SmallVector<int, 4> unitAccesses; ///< by dimension: accesses of unit stride, less the strided ones
  unsigned widestBits = 8;
  bool hasTranscendental = false;
  bool hasDivision = false; ///< of integers
  bool hasGather = false;
  unsigned mostLanes = 64; ///< lane masks are handled as 64-bit integers
};
} // namespace

static bool isTranscendental(Operation *op) { return isMathFunction(op) && !isa<mlir::math::RsqrtOp>(op); }

/// Bits of a lane during computation: small floats are widened.
static unsigned laneBits(Type element, bool isArithmetic) {
  if (isa<tt::PointerType, IndexType>(element))
    return 64;
  const unsigned bits = element.getIntOrFloatBitWidth();
  return isa<FloatType>(element) && isArithmetic ? std::max(bits, 32u) : bits;
}

/// The last dimension that the nest has a loop over; -1: none.
static int lastLoop(const Nest &nest) {
  for (size_t dim = nest.shape.size(); dim-- > 0;)
    if (nest.shape[dim] != 1)
      return dim;
  return -1;
}

/// The lanes of chunks along `loop` in which the access is regular, though it is not affine over the whole tile; 0:
/// none. A copy of a dot's operand is tested as a whole before it is made.
static unsigned regularLanesOf(AffineInfo &affineInfo, const Nest &nest, int loop, Value pointer, const IndexMap &map) {
  if (loop < 0 || nest.inPlace || affineInfo.affine(pointer))
    return 0;
  const bool isOneLoop = llvm::count_if(nest.shape, [](int64_t extent) { return extent != 1; }) == 1;
  if (affineInfo.assumed(pointer) && !isOneLoop)
    return 0;
  return regularLanes(affineInfo, pointer, map, loop, lanesDividing(nest.shape[loop], 64));
}

/// The lanes of chunks along `loop` in each of which a comparison has one result; 0: none.
static unsigned uniformLanesOf(AffineInfo &affineInfo, const Nest &nest, int loop, Value value, const IndexMap &map) {
  if (loop < 0 || !llvm::is_contained(map, loop))
    return 0;
  return uniformLanes(affineInfo, value, map, loop, lanesDividing(nest.shape[loop], 64));
}

/// Counts an access along each dimension of the nest.
static void countAccess(AffineInfo &affineInfo, Nest &nest, int regularLoop, Value pointer, const IndexMap &map,
                        AccessCounts &counts) {
  if (const unsigned lanes = regularLanesOf(affineInfo, nest, regularLoop, pointer, map)) {
    counts.mostLanes = std::min(counts.mostLanes, lanes);
    counts.unitAccesses[regularLoop] += 2;
    return;
  }
  const AffineForm *form = affineInfo.assumed(pointer);
  if (!form) {
    counts.hasGather = true;
    return;
  }
  for (unsigned variable : form->assumptions)
    if (!llvm::is_contained(nest.assumptions, variable))
      nest.assumptions.push_back(variable);
  for (auto [dim, stride] : llvm::enumerate(form->steps))
    if (map[dim] >= 0 && !stride.isZero())
      counts.unitAccesses[map[dim]] += isContiguous(*form, dim, pointer) ? 2 : -1;
}

static void addMask(PlanContext &context, Nest &nest, Value value, const IndexMap &map) {
  const PrefixMask *prefix = context.affineInfo.prefix(value);
  if (!prefix || map[prefix->dim] < 0)
    return;
  PrefixMask mapped = *prefix;
  mapped.dim = map[prefix->dim];
  nest.masks.push_back({std::move(mapped), value});
}

/// The nest's dimension along which a tile of its shape is written to adjacent elements.
static unsigned innermostOf(const Buffer &buffer, const Nest &nest) {
  const unsigned last = nest.shape.size() - 1;
  return buffer.shape.size() == nest.shape.size() ? buffer.innermostDim() : last;
}

static AccessCounts examine(PlanContext &context, Nest &nest, int regularLoop) {
  AccessCounts counts;
  counts.unitAccesses.assign(nest.shape.size(), 0);
  auto widen = [&](Type element, bool isArithmetic) {
    if (!element.isInteger(1))
      counts.widestBits = std::max(counts.widestBits, laneBits(element, isArithmetic));
  };
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (map.empty() || llvm::all_of(map, [](int8_t loop) { return loop < 0; }))
      return !isRead(context.plan, nest, value);
    Type element = tt::elementOf(value.getType());
    Operation *op = value.getDefiningOp();
    if (isRead(context.plan, nest, value)) {
      widen(element, false);
      const Buffer &buffer = context.plan.buffers[context.plan.bufferOf.lookup(value)];
      const int8_t innermost = map.size() == buffer.shape.size() ? map[buffer.innermostDim()] : map.back();
      if (innermost >= 0)
        counts.unitAccesses[innermost] += 2;
      return false;
    }
    if (isa<tt::PointerType>(element) && regularLanesOf(context.affineInfo, nest, regularLoop, value, map))
      return false; // computed for the first lane alone
    addMask(context, nest, value, map);
    if (const unsigned lanes = uniformLanesOf(context.affineInfo, nest, regularLoop, value, map)) {
      counts.mostLanes = std::min(counts.mostLanes, lanes);
      return false;
    }
    widen(element, op && !isa<tt::LoadOp>(op) && !isShapeChange(op));
    if (auto load = dyn_cast_or_null<tt::LoadOp>(op))
      countAccess(context.affineInfo, nest, regularLoop, load.getPtr(), map, counts);
    counts.hasTranscendental |= op && isTranscendental(op);
    counts.hasDivision |= isa_and_nonnull<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
    if (const auto indexed = indexedOperand(op))
      counts.hasGather |= !xorOfIndex(indexed->indices, map, map[indexed->dim]);
    return true;
  });
  walk.takesAssumptions = true;
  for (const Root &root : nest.roots) {
    walk.root(root);
    // Whole vectors write a buffer faster.
    if (root.kind == RootKind::Materialise || root.kind == RootKind::Assign)
      counts.unitAccesses[innermostOf(context.plan.buffers[root.written()], nest)] += 3;
    if (root.kind == RootKind::Materialise && root.op) {
      counts.hasTranscendental |= isTranscendental(root.op);
      widen(tt::elementOf(root.value.getType()), !isa<tt::LoadOp>(root.op));
      if (auto load = dyn_cast<tt::LoadOp>(root.op))
        countAccess(context.affineInfo, nest, regularLoop, load.getPtr(), identityMap(nest.shape.size()), counts);
    }
    if (root.isWrite())
      countAccess(context.affineInfo, nest, regularLoop, root.access().getAccessedPointer(),
                  identityMap(nest.shape.size()), counts);
    if (root.kind == RootKind::Op && root.op->getNumRegions()) // the region computes with the operands
      for (Value operand : root.op->getOperands())
        widen(tt::elementOf(operand.getType()), true);
  }
  return counts;
}

/// Whether all loops that index the value are outside the vector loop.
static bool isBeforeVector(const Nest &nest, const IndexMap &map) {
  const auto *vector = llvm::find(nest.order, static_cast<unsigned>(nest.vectorDim));
  return llvm::all_of(
      map, [&](int8_t loop) { return loop < 0 || llvm::find(nest.order, static_cast<unsigned>(loop)) < vector; });
}

/// Collects the conditions of every mask that are uniform over a vector.
static void collectConditions(PlanContext &context, Nest &nest) {
  auto add = [&](Value mask, const IndexMap &map) {
    if (!mask)
      return;
    for (Conjunct &part : conjuncts(context.affineInfo, mask, map))
      if (isBeforeVector(nest, part.map) &&
          llvm::none_of(nest.conditions, [&](const NestCondition &known) { return known.value == part.value; }))
        nest.conditions.push_back({part.value, part.map});
  };
  const IndexMap identity = identityMap(nest.shape.size());
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
    if (isRead(context.plan, nest, value))
      return false;
    if (auto load = value.getDefiningOp<tt::LoadOp>(); load && llvm::is_contained(map, nest.vectorDim))
      add(load.getMask(), map);
    return true;
  });
  for (const Root &root : nest.roots) {
    walk.root(root);
    if (root.isWrite())
      add(root.access().getAccessMask(), identity);
    if (auto load = dyn_cast_or_null<tt::LoadOp>(root.op); load && root.kind == RootKind::Materialise)
      add(load.getMask(), identity);
  }
}

static unsigned chooseLanes(const PlanContext &context, const Nest &nest, const AccessCounts &counts) {
  if (llvm::any_of(nest.roots, [](const Root &root) { return root.kind == RootKind::Op && needsScalars(root.op); }))
    return 1;
  const bool isLaneByLane = llvm::any_of(nest.roots, [&](const Root &root) {
    return root.traits && root.traits->isLaneByLane && root.traits->isLaneByLane(root.op, nest.vectorDim);
  });
  const unsigned registers = counts.hasGather || counts.hasDivision || isLaneByLane ? 1
                             : counts.hasTranscendental                             ? 2
                                                                                    : 4;
  const unsigned lanes = std::max(1u, registers * context.machine.registerBits / counts.widestBits);
  return lanesDividing(nest.shape[nest.vectorDim], std::min(lanes, counts.mostLanes));
}

/// One register's lanes: masked code runs once or twice for each row, and several registers would be as many copies of
/// each of its operations to compile.
static unsigned chooseMaskedLanes(const PlanContext &context, const Nest &nest, const AccessCounts &counts) {
  const bool isEqual = llvm::any_of(nest.roots, [&](const Root &root) {
    return root.traits && root.traits->needsEqualChunks && root.traits->needsEqualChunks(root.op, nest.vectorDim);
  });
  const unsigned lanes = std::max(2u, context.machine.registerBits / counts.widestBits);
  return isEqual ? nest.lanes : std::min(nest.lanes, lanes);
}

static AccessCounts examineAgain(PlanContext &context, Nest &nest, int regularLoop) {
  nest.masks.clear();
  nest.assumptions.clear();
  return examine(context, nest, regularLoop);
}

/// Examines the nest along the loop where chunks may be regular: the last, but where it gathers what an outer one reads
/// in whole vectors.
static AccessCounts examineRegular(PlanContext &context, Nest &nest, int &regularLoop) {
  const int last = regularLoop = lastLoop(nest);
  const AccessCounts counts = examine(context, nest, last);
  bool hasTried = false;
  for (int loop = last - 1; counts.hasGather && loop >= 0; --loop) {
    if (nest.shape[loop] == 1)
      continue;
    hasTried = true;
    const AccessCounts outer = examineAgain(context, nest, loop);
    if (!outer.hasGather && outer.unitAccesses[loop] >= counts.unitAccesses[last]) {
      regularLoop = loop;
      return outer;
    }
  }
  return hasTried ? examineAgain(context, nest, last) : counts;
}

/// How many elements along the vector dimension, from each multiple of the number on, are the same in every tile that
/// the nest combines along it; 1 where that is not known, where masks end the tiles, or where a root counts elements.
static unsigned countEqualElements(const PlanContext &context, const Nest &nest) {
  constexpr unsigned fewest = 8;
  if (!nest.masks.empty() || !nest.conditions.empty() || !nest.assumptions.empty())
    return 1;
  for (const Root &root : nest.roots)
    if (root.axis() != nest.vectorDim || !root.traits->isIdempotent || !root.traits->isIdempotent(root.op))
      return 1;
  const uint64_t extent = nest.shape[nest.vectorDim];
  const IndexMap identity = identityMap(nest.shape.size());
  auto areEqual = [&](unsigned count) {
    return llvm::all_of(nest.roots, [&](const Root &root) {
      return llvm::all_of(root.op->getOperands(), [&](Value tile) {
        return chunkStep(context.affineInfo, tile, identity, nest.vectorDim, count) == 0;
      });
    });
  };
  if (!areEqual(fewest)) // mostly, and tested once
    return 1;
  return std::max(largestChunk(lanesDividing(extent, 1u << 30), fewest, areEqual), 1u);
}

static void vectorise(PlanContext &context, Nest &nest) {
  int regularLoop;
  AccessCounts counts = examineRegular(context, nest, regularLoop);
  const int axis = nest.axis();
  for (auto [dim, extent] : llvm::enumerate(nest.shape)) {
    if (extent == 1)
      continue;
    if (nest.vectorDim < 0 || counts.unitAccesses[dim] >= counts.unitAccesses[nest.vectorDim])
      nest.vectorDim = dim;
  }
  if (nest.vectorDim != regularLoop) { // no chunk is regular along another loop
    counts = examineAgain(context, nest, /*regularLoop=*/-1);
  }
  if (nest.vectorDim < 0)
    return;
  nest.lanes = chooseLanes(context, nest, counts);
  nest.maskedLanes = chooseMaskedLanes(context, nest, counts);
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent != 1 && static_cast<int>(dim) != nest.vectorDim && static_cast<int>(dim) != axis)
      nest.order.push_back(dim);
  nest.order.push_back(nest.vectorDim);
  if (axis >= 0 && axis != nest.vectorDim && nest.shape[axis] != 1)
    nest.order.push_back(axis);
  collectConditions(context, nest);
  nest.equalElements = countEqualElements(context, nest);
  if (nest.equalElements > 1)
    nest.lanes = nest.maskedLanes = 1;
}

void cpu::vectorise(PlanContext &context, Sequence &sequence) {
  for (Step &step : sequence.steps) {
    if (step.nest)
      ::vectorise(context, *step.nest);
    for (Sequence &region : step.regions)
      vectorise(context, region);
  }
}
