// Visits the expressions of a nest's roots; what does not depend on a loop runs outside of it.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/NestWork.h"

#include "compiler/target/cpu/ProgramWork.h"
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

//--- cycles of one vector ------------------------------------------------------------------
static constexpr double kSimple = 0.5, kLoad = 0.5, kStore = 1, kDivision = 6, kFunction = 15;
static constexpr double kLane = 1.2;          ///< of an element that is moved alone
static constexpr double kIntegerDivision = 8; ///< of an element
static constexpr double kAtomic = 20;         ///< of an element
static constexpr double kFirstLane = 8;       ///< of an address that is computed for the first element alone
static constexpr double kCombinedLanes = 14;  ///< of the lanes of one vector, at the end of a reduction
//--- of loops ------------------------------------------------------------------------------
static constexpr double kNestCycles = 4, kOuterCycles = 2, kChunkCycles = 0.6;

namespace {
class NestCounter {
public:
  NestCounter(const Nest &nest, CpuKernel &kernel, analysis::ScalarValues &values, uint64_t memoryBytes);
  NestWork count();

private:
  std::optional<int64_t> valueOf(const Polynomial &sum);
  void limitByMasks();
  double executions(const IndexMap &map) const;
  double vectorsOf(Type element, const IndexMap &map) const;
  bool isAlongVector(const IndexMap &map) const {
    return nest.vectorDim >= 0 && llvm::is_contained(map, nest.vectorDim);
  }
  bool isOfFirstLane(Value value, const IndexMap &map) const;
  bool visit(Value value, const IndexMap &map);
  void addAccess(Value pointer, const IndexMap &map, bool isStore);
  void addBuffer(BufferId buffer, const IndexMap &map, bool isWrite);
  double cyclesOf(Operation *op, const IndexMap &map) const;
  void addRoot(const Root &root);
  void addCombination(const Root &root);
  void addLoops();

  const Nest &nest;
  CpuKernel &kernel;
  analysis::ScalarValues &values;
  const uint64_t memoryBytes;
  SmallVector<double, 4> extents; ///< by dimension
  SmallVector<double, 4> reached; ///< the same up to the ends of masks
  NestWork work;
};
} // namespace

NestCounter::NestCounter(const Nest &nest, CpuKernel &kernel, analysis::ScalarValues &values, uint64_t memoryBytes)
    : nest(nest), kernel(kernel), values(values), memoryBytes(memoryBytes),
      extents(nest.shape.begin(), nest.shape.end()), reached(extents) {
  limitByMasks();
}

std::optional<int64_t> NestCounter::valueOf(const Polynomial &sum) {
  int64_t total = 0;
  for (const Polynomial::Term &term : sum.terms()) {
    int64_t product = term.coefficient;
    for (unsigned variable : term.factors) {
      const Value scalar = kernel.affineInfo.variable(variable).value;
      const std::optional<int64_t> number =
          scalar && !kernel.affineInfo.remainderOf(variable) ? values.of(scalar) : std::nullopt;
      if (!number)
        return std::nullopt;
      product *= *number;
    }
    total += product;
  }
  return total;
}

/// Loops that only write end where their mask does; others go on with what a masked load gives.
void NestCounter::limitByMasks() {
  for (const NestMask &mask : nest.masks)
    if (const std::optional<int64_t> end = valueOf(mask.prefix.bound); end && mask.prefix.dim < reached.size())
      reached[mask.prefix.dim] = std::clamp<double>(double(*end), 0, reached[mask.prefix.dim]);
  if (llvm::all_of(nest.roots, [](const Root &root) { return root.isWrite(); }))
    extents = reached;
}

/// How often a value that depends on these loops is computed: once for each chunk of the vectorised one.
double NestCounter::executions(const IndexMap &map) const {
  double count = 1;
  for (unsigned dim = 0; dim < extents.size(); ++dim)
    if (llvm::is_contained(map, int8_t(dim)))
      count *= int(dim) == nest.vectorDim ? std::ceil(extents[dim] / nest.lanes) : extents[dim];
  return count;
}

/// Registers of a chunk.
double NestCounter::vectorsOf(Type element, const IndexMap &map) const {
  if (!isAlongVector(map))
    return 1;
  const bool isSmallFloat = isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  const unsigned bits = isa<tt::PointerType, IndexType>(element) ? 64
                        : isSmallFloat                           ? 32
                                                                 : element.getIntOrFloatBitWidth();
  return std::max(1.0, double(nest.lanes) * bits / kernel.vectors.registerBits);
}

double NestCounter::cyclesOf(Operation *op, const IndexMap &map) const {
  if (isShapeChange(op) || op->hasTrait<OpTrait::ConstantLike>() || isa<tt::MakeRangeOp, tt::SplatOp>(op))
    return 0;
  const double vectors = vectorsOf(tt::elementOf(op->getResult(0).getType()), map);
  if (isSlowFunction(op))
    return kFunction * vectors;
  if (isa<arith::DivFOp>(op))
    return kDivision * vectors;
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return kIntegerDivision * (isAlongVector(map) ? nest.lanes : 1);
  if (indexedOperand(op))
    return kLane * (isAlongVector(map) ? nest.lanes : 1);
  return kSimple * vectors;
}

/// The bytes of whole cache lines: of rows of neighbours, or of single elements.
static double lineBytes(double elements, double run, double size) {
  constexpr double kLine = 64;
  const double ofRun = run * size;
  return elements / std::max(run, 1.0) * (ofRun >= kLine ? ofRun : std::min(kLine, ofRun * 4));
}

/// Whether the elements of a chunk follow from the first one: neighbours of its address, or one result of a comparison.
bool NestCounter::isOfFirstLane(Value value, const IndexMap &map) const {
  if (!isAlongVector(map) || nest.lanes == 1)
    return false;
  if (isa<tt::PointerType>(tt::elementOf(value.getType())))
    return !kernel.affineInfo.assumed(value) &&
           regularLanes(kernel.affineInfo, value, map, nest.vectorDim, nest.lanes) >= nest.lanes;
  return uniformLanes(kernel.affineInfo, value, map, nest.vectorDim, nest.lanes) >= nest.lanes;
}

void NestCounter::addAccess(Value pointer, const IndexMap &map, bool isStore) {
  const AffineForm *form = kernel.affineInfo.assumed(pointer);
  const Type element = cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee();
  double run = 1;
  bool isVector = !isAlongVector(map);
  if (form)
    for (auto [dim, stride] : llvm::enumerate(form->steps)) {
      if (map[dim] < 0 || stride.isZero() || !isContiguous(*form, dim, pointer))
        continue;
      run = reached[map[dim]];
      isVector |= map[dim] == nest.vectorDim;
    }
  if (form && isAlongVector(map))
    isVector |= llvm::all_of(llvm::enumerate(form->steps), [&](auto step) { // from one address
      return map[step.index()] != nest.vectorDim || step.value().isZero();
    });
  if (isOfFirstLane(pointer, map)) {
    isVector = true;
    run = reached[nest.vectorDim];
  }
  const double each = isVector ? (isStore ? kStore : kLoad) * vectorsOf(element, map) : kLane * nest.lanes;
  work.cycles += executions(map) * each;
  double elements = 1;
  for (unsigned dim = 0; dim < reached.size(); ++dim)
    elements *= llvm::is_contained(map, int8_t(dim)) ? reached[dim] : 1;
  const double size = double(storageBytes(element));
  work.bytes += elements * size;
  work.memoryCycles += lineBytes(elements, run, size) / bytesPerCycle(kernel.vectors, memoryBytes);
}

void NestCounter::addBuffer(BufferId id, const IndexMap &map, bool isWrite) {
  const Buffer &buffer = kernel.plan.buffers[id];
  const int8_t innermost = map.size() == buffer.shape.size() && !map.empty() ? map[buffer.innermostDim()] : -1;
  const bool isVector = !isAlongVector(map) || innermost == nest.vectorDim;
  const double vectors = vectorsOf(buffer.element, map);
  work.cycles += executions(map) * (isVector ? (isWrite ? kStore : kLoad) * vectors : kLane / 2 * nest.lanes);
  // What the programs of a thread leave in the arena is in a cache, which the arrays do not displace at once.
  const double bytes = executions(map) * vectors * kernel.vectors.registerBits / 8;
  work.memoryCycles += bytes / bytesPerCycle(kernel.vectors, std::max<uint64_t>(kernel.plan.arenaBytes, 1));
}

/// Adds a value of the expression; false where its operands are not evaluated.
bool NestCounter::visit(Value value, const IndexMap &map) {
  Operation *op = value.getDefiningOp();
  if (isRead(kernel.plan, nest, value)) {
    addBuffer(kernel.plan.bufferOf.lookup(value), map, /*isWrite=*/false);
    return false;
  }
  if (!op || map.empty())
    return true;
  if (isOfFirstLane(value, map)) {
    work.cycles += executions(map) * kFirstLane;
    return false;
  }
  if (auto load = dyn_cast<tt::LoadOp>(op))
    addAccess(load.getPtr(), map, /*isStore=*/false);
  else if (!kernel.affineInfo.prefix(value))
    work.cycles += executions(map) * cyclesOf(op, map);
  return true;
}

/// What a reduction, a scan or another op of its own kind does with the elements.
void NestCounter::addCombination(const Root &root) {
  const IndexMap all = identityMap(nest.shape.size());
  const double chunks = executions(all);
  unsigned ops = 0;
  for (Region &region : root.op->getRegions())
    region.walk([&](Operation *) { ++ops; });
  const double vectors = vectorsOf(tt::elementOf(root.op->getOperand(0).getType()), all);
  if (ops == 0 || root.axis() < 0) {
    work.cycles += chunks * kLane * 4 * nest.lanes;
    return;
  }
  const double ofEach = kSimple * ops * vectors;
  const bool isAcross = root.axis() == nest.vectorDim;
  work.cycles += chunks * (root.traits->isOrdered && isAcross ? ofEach * 3 + 8 : ofEach);
  if (isAcross)
    work.cycles += chunks / std::max(1.0, std::ceil(extents[root.axis()] / nest.lanes)) * kCombinedLanes;
}

void NestCounter::addRoot(const Root &root) {
  const IndexMap all = identityMap(nest.shape.size());
  if (root.kind == RootKind::Materialise)
    if (Operation *op = root.value.getDefiningOp(); op && isComputable(op)) {
      if (auto load = dyn_cast<tt::LoadOp>(op))
        addAccess(load.getPtr(), all, /*isStore=*/false);
      else
        work.cycles += executions(all) * cyclesOf(op, all);
    }
  if (root.kind != RootKind::Op) {
    addBuffer(root.written(), all, /*isWrite=*/true);
    if (root.staging)
      addBuffer(root.buffers.front(), all, /*isWrite=*/true);
  } else if (root.isWrite()) {
    addAccess(root.access().getAccessedPointer(), all, /*isStore=*/true);
    if (!isa<tt::StoreOp>(root.op))
      work.cycles += executions(all) * kAtomic * nest.lanes;
  } else {
    addCombination(root);
  }
}

void NestCounter::addLoops() {
  double outer = 1;
  for (unsigned dim : nest.order)
    if (int(dim) != nest.vectorDim)
      outer *= extents[dim];
  work.cycles += kNestCycles + outer * kOuterCycles + executions(identityMap(nest.shape.size())) * kChunkCycles;
}

NestWork NestCounter::count() {
  ExpressionWalk walk(kernel.affineInfo, [&](Value value, const IndexMap &map) { return visit(value, map); });
  walk.takesAssumptions = true;
  for (const Root &root : nest.roots) {
    walk.root(root);
    addRoot(root);
  }
  addLoops();
  return work;
}

NestWork cpu::workOf(const Nest &nest, CpuKernel &kernel, analysis::ScalarValues &values, uint64_t memoryBytes) {
  NestWork work = NestCounter(nest, kernel, values, memoryBytes).count();
  // Programs in succession mostly have one operand of a dot in common.
  constexpr double kMadeAgain = 0.25;
  if (!nest.keptOperand)
    return work;
  return {work.cycles * kMadeAgain, work.memoryCycles * kMadeAgain, work.bytes * kMadeAgain};
}
