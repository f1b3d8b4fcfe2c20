// Unites the dimensions of tiles that can only be split together, and splits those classes of them that gain most.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/clusters/ClusterPlan.h"

#include "compiler/analysis/PointerBases.h"
#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/tt/TypeName.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

/// Work is counted in elements that are computed once. An exchange waits twice for all CTAs.
static constexpr int64_t kExchangeWork = 256, kAccessWork = 4, kMathWork = 4, kProductsPerElement = 16;
/// Runs of a loop's body, and the levels of nesting that count.
static constexpr int64_t kLoopWork = 8;
static constexpr unsigned kLoopLevels = 3;
/// The fewest rows and columns of a part for which there are matrix instructions, and rows of those of a warp group.
static constexpr int64_t kMmaRows = 16, kMmaColumns = 8, kWarpGroupRows = 64;

namespace {
/// Dimensions that are split together, or not at all.
struct DimClass {
  int64_t work = 0, exchanges = 0; ///< the work that a split divides, and the exchanges that it adds
  bool isForbidden = false;
  Operation *culprit = nullptr; ///< why it is forbidden; else the op that exchanges most
  std::pair<int64_t, Operation *> largest = {0, nullptr};
  unsigned largestDim = 0;
};

class Planner {
public:
  Planner(tt::FuncOp kernel, const ClusterShape &shape) : kernel(kernel), shape(shape) {}
  ClusterPlan run();

private:
  using Classes = SmallVector<unsigned, 4>;

  unsigned newClass();
  unsigned find(unsigned index) const { return united.getLeaderValue(index); }
  void unite(unsigned a, unsigned b);
  Classes &classesOf(Value value);
  bool isFixedTile(Value value) const {
    return isa<RankedTensorType>(value.getType()) && !plan.rematerialised.contains(value);
  }
  void forbid(unsigned index, Operation *culprit);
  void checkExtent(unsigned index, Type type, unsigned dim, Operation *op);

  void visit(Operation *op);
  void visitFlow(RegionBranchOpInterface op);
  void visitResults(Operation *op, ArrayRef<SplitDim> dims);
  void visitOperands(Operation *op, ArrayRef<SplitDim> dims);
  void visitDot(tt::DotOp dot, ArrayRef<unsigned> classes);
  void visitBlock(Operation *access, ArrayRef<unsigned> classes);
  void addWork(Operation *op, ArrayRef<unsigned> classes);
  void addExchange(unsigned index, Operation *op, int64_t elements, Type element);

  void forbidConflicts();
  int64_t gainOf(unsigned index) const;
  void choose();
  bool isChosen(unsigned index) { return chosen.contains(find(index)); }
  void record();
  void describe();
  void explainNone();

  tt::FuncOp kernel;
  const ClusterShape &shape;
  ClusterPlan plan;
  std::vector<DimClass> classes; ///< only a leader's is used
  llvm::EquivalenceClasses<unsigned> united;
  llvm::MapVector<Value, Classes> valueClasses, blockClasses;
  std::vector<std::pair<Operation *, Classes>> opClasses; ///< one for each of splitDimsOf
  llvm::DenseMap<Operation *, SmallVector<SplitDim, 2>> dimsOf;
  llvm::SmallDenseSet<unsigned> chosen;
  int64_t totalWork = 0, splitWork = 0;
};
} // namespace

static bool isTile(Type type) { return isa<RankedTensorType>(type); }

Value nvidia::tensorMapOf(Operation *access) {
  Value map = access->getOperand(0);
  return analysis::functionArgument(map) || map.getDefiningOp<ttng::MakeTensorMapOp>() ? map : Value();
}

//--- classes -------------------------------------------------------------------------------

unsigned Planner::newClass() {
  const unsigned index = classes.size();
  classes.emplace_back();
  united.insert(index);
  return index;
}

void Planner::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  united.unionSets(std::min(a, b), std::max(a, b)); // the first one remains the leader
  DimClass &into = classes[std::min(a, b)], &from = classes[std::max(a, b)];
  into.work += from.work;
  into.exchanges += from.exchanges;
  if (!into.isForbidden && from.culprit)
    into.culprit = from.culprit;
  into.isForbidden |= from.isForbidden;
  if (from.largest.first > into.largest.first) {
    into.largest = from.largest;
    into.largestDim = from.largestDim;
  }
}

Planner::Classes &Planner::classesOf(Value value) {
  auto [entry, isNew] = valueClasses.try_emplace(value);
  if (isNew)
    for (unsigned dim = 0; dim < tt::shapeOf(value.getType()).size(); ++dim)
      entry->second.push_back(newClass());
  return entry->second;
}

void Planner::forbid(unsigned index, Operation *culprit) {
  DimClass &dimClass = classes[find(index)];
  if (!dimClass.isForbidden)
    dimClass.culprit = culprit;
  dimClass.isForbidden = true;
}

/// Every CTA has at least one element.
void Planner::checkExtent(unsigned index, Type type, unsigned dim, Operation *op) {
  if (tt::shapeOf(type)[dim] % shape.numCtas != 0)
    forbid(index, op);
}

//--- ops -----------------------------------------------------------------------------------

static int64_t loopFactor(Operation *op) {
  int64_t factor = 1;
  unsigned levels = 0;
  for (Operation *parent = op->getParentOp(); parent && levels < kLoopLevels; parent = parent->getParentOp())
    if (isa<LoopLikeOpInterface>(parent)) {
      factor *= kLoopWork;
      ++levels;
    }
  return factor;
}

static int64_t elementsOf(Operation *op) {
  int64_t elements = 0;
  auto take = [&](Type type) {
    if (auto tile = dyn_cast<RankedTensorType>(type))
      elements = std::max(elements, tile.getNumElements());
  };
  llvm::for_each(op->getOperandTypes(), take);
  llvm::for_each(op->getResultTypes(), take);
  return elements;
}

static int64_t workOf(Operation *op) {
  int64_t work = elementsOf(op);
  if (auto dot = dyn_cast<tt::DotOp>(op))
    work += dot.getD().getType().getNumElements() * tt::shapeOf(dot.getA().getType()).back() / kProductsPerElement;
  else if (isa<tt::MemoryAccessOpInterface, ttng::TileLoadOp, ttng::TileStoreOp>(op))
    work *= kAccessWork;
  else if (isa<math::MathDialect>(op->getDialect()) || isa<arith::DivFOp, tt::ExternElementwiseOp>(op))
    work *= kMathWork;
  return work * loopFactor(op);
}

void Planner::addWork(Operation *op, ArrayRef<unsigned> own) {
  const int64_t work = workOf(op);
  totalWork += work;
  for (auto [dim, index] : llvm::enumerate(own)) {
    DimClass &dimClass = classes[find(index)];
    dimClass.work += work;
    if (work > dimClass.largest.first) {
      dimClass.largest = {work, op};
      dimClass.largestDim = dim;
    }
  }
}

void Planner::addExchange(unsigned index, Operation *op, int64_t elements, Type element) {
  DimClass &dimClass = classes[find(index)];
  dimClass.exchanges += (kExchangeWork + elements * shape.numCtas) * loopFactor(op);
  if (!dimClass.culprit)
    dimClass.culprit = op;
  // Other buffers need the rest of the shared memory.
  if (tt::storageBytes(element, elements) > shape.maxBytes / 4)
    forbid(index, op);
}

/// A result of which an op computes the whole cannot be split.
void Planner::visitResults(Operation *op, ArrayRef<SplitDim> dims) {
  for (auto [number, result] : llvm::enumerate(op->getResults())) {
    if (!isTile(result.getType()))
      continue;
    for (auto [dim, index] : llvm::enumerate(Classes(classesOf(result))))
      if (llvm::none_of(dims, [&](const SplitDim &own) { return own.results[number] == dim; }))
        forbid(index, op);
  }
}

/// An operand of which an op needs the whole is exchanged where it is split. That of a dot is not: its loads are
/// pipelined, which exchanges would end.
void Planner::visitOperands(Operation *op, ArrayRef<SplitDim> dims) {
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    if (!isFixedTile(operand))
      continue;
    auto tile = cast<RankedTensorType>(operand.getType());
    for (auto [dim, index] : llvm::enumerate(Classes(classesOf(operand))))
      if (llvm::none_of(dims, [&](const SplitDim &own) { return own.operands[number] == dim; })) {
        addExchange(index, op, tile.getNumElements() / shape.numCtas, tile.getElementType());
        if (isa<tt::DotOpInterface>(op))
          forbid(index, op);
      }
  }
}

/// Parts keep matrix instructions, and those of warp groups where the whole has them.
void Planner::visitDot(tt::DotOp dot, ArrayRef<unsigned> own) {
  ArrayRef<int64_t> extents = dot.getD().getType().getShape();
  const unsigned m = extents.size() - 2, n = extents.size() - 1;
  const int64_t rows = extents[m] / shape.numCtas, columns = extents[n] / shape.numCtas;
  if (rows < kMmaRows)
    forbid(own[m], dot);
  else if (rows < kWarpGroupRows && extents[m] >= kWarpGroupRows)
    classes[find(own[m])].work -= workOf(dot);
  if (columns < kMmaColumns)
    forbid(own[n], dot);
}

/// All accesses through a tensor map have blocks of one shape.
void Planner::visitBlock(Operation *access, ArrayRef<unsigned> own) {
  Value map = tensorMapOf(access);
  auto store = dyn_cast<ttng::TileStoreOp>(access);
  auto type = cast<RankedTensorType>(store ? store.getSrc().getType() : access->getResult(0).getType());
  const int64_t rowBytes = tt::storageBytes(type.getElementType(), type.getShape().back()) / shape.numCtas;
  if (own.size() == 2 && rowBytes < 2 * ttng::kTensorMapAlignBytes)
    forbid(own.back(), access);
  auto [entry, isNew] = blockClasses.try_emplace(map, own.begin(), own.end());
  for (auto [index, other] : llvm::zip(own, ArrayRef(entry->second)))
    unite(index, other);
  if (!map || entry->second.size() != own.size())
    for (unsigned index : llvm::concat<unsigned>(Classes(own.begin(), own.end()), entry->second))
      forbid(index, access);
}

void Planner::visitFlow(RegionBranchOpInterface op) {
  analysis::forEachForwarded(op, [&](OpOperand &from, Value to) {
    if (!isTile(to.getType()))
      return;
    for (auto [dim, index] : llvm::enumerate(Classes(classesOf(to))))
      checkExtent(index, to.getType(), dim, op);
    if (!isFixedTile(from.get()))
      return;
    for (auto [a, b] : llvm::zip_equal(Classes(classesOf(from.get())), Classes(classesOf(to))))
      unite(a, b);
  });
}

void Planner::visit(Operation *op) {
  if (auto flow = dyn_cast<RegionBranchOpInterface>(op))
    return visitFlow(flow);
  if (op->hasTrait<OpTrait::IsTerminator>() || elementsOf(op) == 0)
    return;
  SmallVector<SplitDim, 2> dims = splitDimsOf(op);
  Classes own;
  for (const SplitDim &dim : dims) {
    const unsigned index = newClass();
    own.push_back(index);
    auto add = [&](Value value, std::optional<unsigned> valueDim) {
      if (!valueDim)
        return;
      checkExtent(index, value.getType(), *valueDim, op);
      if (isFixedTile(value))
        unite(index, classesOf(value)[*valueDim]);
    };
    for (auto [operand, valueDim] : llvm::zip_equal(op->getOperands(), dim.operands))
      add(operand, valueDim);
    for (auto [result, valueDim] : llvm::zip_equal(op->getResults(), dim.results))
      add(result, valueDim);
    if (dim.isCombined)
      for (Value operand : op->getOperands()) {
        auto tile = cast<RankedTensorType>(operand.getType());
        addExchange(index, op, tile.getNumElements() / tile.getDimSize(cast<tt::ReduceOp>(op).getAxis()),
                    tile.getElementType());
      }
  }
  visitResults(op, dims);
  visitOperands(op, dims);
  if (auto dot = dyn_cast<tt::DotOp>(op))
    visitDot(dot, own);
  if (isa<ttng::TileLoadOp, ttng::TileStoreOp>(op))
    visitBlock(op, own);
  addWork(op, own);
  opClasses.emplace_back(op, own);
  dimsOf[op] = std::move(dims);
}

//--- choice --------------------------------------------------------------------------------

/// A tile with two dimensions of one class cannot be split along them.
void Planner::forbidConflicts() {
  auto forbidTwice = [&](ArrayRef<unsigned> own, Operation *op) {
    llvm::SmallDenseSet<unsigned> seen;
    for (unsigned index : own)
      if (!seen.insert(find(index)).second)
        forbid(index, op);
  };
  for (auto &[op, own] : opClasses)
    forbidTwice(own, op);
  for (auto &[value, own] : valueClasses)
    forbidTwice(own, value.getDefiningOp() ? value.getDefiningOp() : value.getParentBlock()->getParentOp());
}

int64_t Planner::gainOf(unsigned index) const {
  const DimClass &dimClass = classes[index];
  return dimClass.work - dimClass.work / shape.numCtas - dimClass.exchanges;
}

void Planner::choose() {
  SmallVector<unsigned> candidates;
  for (unsigned index = 0; index < classes.size(); ++index)
    if (find(index) == index && !classes[index].isForbidden && classes[index].work > 0 &&
        (shape.wherePossible || gainOf(index) > 0))
      candidates.push_back(index);
  llvm::sort(candidates, [&](unsigned a, unsigned b) { return std::pair(-gainOf(a), a) < std::pair(-gainOf(b), b); });
  auto excludes = [&](unsigned candidate, ArrayRef<unsigned> own) {
    const bool hasIt = llvm::any_of(own, [&](unsigned index) { return find(index) == candidate; });
    return hasIt && llvm::any_of(own, [&](unsigned index) { return isChosen(index); });
  };
  for (unsigned candidate : candidates) {
    const bool isExcluded =
        llvm::any_of(opClasses, [&](const auto &entry) { return excludes(candidate, entry.second); }) ||
        llvm::any_of(valueClasses, [&](const auto &entry) { return excludes(candidate, entry.second); });
    if (!isExcluded)
      chosen.insert(candidate);
  }
}

void Planner::record() {
  for (auto &[op, own] : opClasses)
    for (auto [index, dim] : llvm::zip_equal(own, dimsOf[op]))
      if (isChosen(index)) {
        plan.dimOf[op] = dim;
        splitWork += workOf(op);
      }
  for (auto &[value, own] : valueClasses)
    for (auto [dim, index] : llvm::enumerate(own))
      if (isChosen(index))
        plan.splitOf[value] = dim;
  for (auto &[map, own] : blockClasses)
    for (auto [dim, index] : llvm::enumerate(own))
      if (isChosen(index))
        plan.blockSplitOf[map] = dim;
}

/// The largest tile of an op, other than of pointers.
static RankedTensorType largestTile(Operation *op) {
  RankedTensorType largest;
  for (Type type : llvm::concat<Type>(llvm::to_vector(op->getResultTypes()), llvm::to_vector(op->getOperandTypes())))
    if (auto tile = dyn_cast<RankedTensorType>(type); tile && !isa<tt::PointerType>(tile.getElementType()))
      if (!largest || tile.getNumElements() > largest.getNumElements())
        largest = tile;
  return largest;
}

void Planner::describe() {
  SmallVector<unsigned> sorted(chosen.begin(), chosen.end());
  llvm::sort(sorted, [&](unsigned a, unsigned b) { return std::pair(-gainOf(a), a) < std::pair(-gainOf(b), b); });
  for (unsigned index : sorted) {
    const DimClass &dimClass = classes[index];
    if (!plan.text.empty())
      plan.text += ", ";
    plan.text +=
        tt::userName(largestTile(dimClass.largest.second)) + " along dimension " + std::to_string(dimClass.largestDim);
  }
}

void Planner::explainNone() {
  const DimClass *best = nullptr;
  for (auto [index, dimClass] : llvm::enumerate(classes))
    if (dimClass.work > (best ? best->work : 0) && find(index) == index)
      best = &dimClass;
  plan.culprit = best && best->culprit ? best->culprit : kernel.getOperation();
  plan.reason = !best               ? "there is no tile to split"
                : best->isForbidden ? "its largest tiles cannot be split, since here each block needs or has the whole"
                : best->exchanges   ? "to split its largest tiles costs more in exchanges than it saves"
                                    : "only a small part of its work can be split";
}

/// Ops whose effects are known to be those of the first CTA, or of the CTA that has the part.
static bool isUnderstood(Operation *op) {
  return isa<tt::MemoryAccessOpInterface, tt::PrintOp, tt::AssertOp, tt::ExternElementwiseOp,
             tt::ElementwiseInlineAsmOp, ttng::TileLoadOp, ttng::TileStoreOp, ttng::MakeTensorMapOp, ttg::BarrierOp,
             imported::BarrierOp, imported::AssumeOp>(op) ||
         (op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && isa<scf::SCFDialect>(op->getDialect())) ||
         isMemoryEffectFree(op);
}

ClusterPlan Planner::run() {
  SmallVector<Operation *> ops;
  const WalkResult result = kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tt::CallOp>(op) || !isUnderstood(op)) {
      plan.culprit = op;
      return WalkResult::interrupt();
    }
    if (isRematerialised(op, [&](Value value) { return plan.rematerialised.contains(value); }))
      plan.rematerialised.insert(op->getResult(0));
    else
      ops.push_back(op);
    const bool hasElementRegion = op->getNumRegions() > 0 && !isa<scf::SCFDialect>(op->getDialect());
    return hasElementRegion ? WalkResult::skip() : WalkResult::advance();
  });
  if (result.wasInterrupted()) {
    plan.reason = "this op may have effects that cannot be divided";
    return std::move(plan);
  }
  for (Operation *op : ops)
    visit(op);
  forbidConflicts();
  choose();
  record();
  if (!chosen.empty() && (shape.wherePossible || 2 * splitWork > totalWork))
    describe();
  else
    explainNone();
  return std::move(plan);
}

ClusterPlan nvidia::planCluster(tt::FuncOp kernel, const ClusterShape &shape) { return Planner(kernel, shape).run(); }
