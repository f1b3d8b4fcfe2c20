// Visits a function's ops and unites the tiles that share a layout.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LayoutClasses.h"

#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/DotLayouts.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Ops whose result costs more to recompute than to convert.
static bool isExpensive(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<arith::DivFOp, arith::RemFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp>(op);
}

/// Whether all tiles of an op that states no relation have one layout.
static bool keepsLayout(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || op->hasTrait<tt::SameEncoding>();
}

/// Whether an op that states a relation moves no element to another thread: its results follow from its operands.
static bool keepsThreads(LayoutRelationOpInterface op) {
  return isa<tt::ElementMapOpInterface>(op.getOperation()) && op->getNumOperands() == 1 && op->getNumResults() == 1;
}

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static unsigned loopDepthOf(Operation *op) {
  unsigned depth = 0;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    depth += isa<LoopLikeOpInterface>(parent);
  return depth;
}

namespace {
class ClassBuilder {
public:
  ClassBuilder(llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout,
               llvm::function_ref<LayoutEncoding(tt::DotOpInterface)> dotLayout,
               llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout)
      : signatureLayout(signatureLayout), dotLayout(dotLayout), copyLayout(copyLayout) {}

  LogicalResult visit(tt::FuncOp function);
  LayoutClasses finish();

private:
  unsigned newNode(RankedTensorType tile);
  unsigned find(unsigned node) const { return united.getLeaderValue(node); }
  void unite(unsigned a, unsigned b);
  unsigned nodeOf(Value value);
  /// Unites the node with the tiles among `values` that are not rematerialised.
  void uniteAll(unsigned node, ValueRange values);
  void addEdge(unsigned start, unsigned end, LayoutTransfer transfer, RankedTensorType moved, Operation *at);
  void addFixed(Value value, LayoutEncoding layout, bool isSource, Operation *at);

  bool markRematerialised(Operation *op);
  LogicalResult visitOp(Operation *op);
  void visitFlow(RegionBranchOpInterface op);
  bool visitSignature(Operation *op);
  LayoutEncoding fixedLayout(Operation *op, const LayoutRelation &relation);
  void visitRelated(LayoutRelationOpInterface op);
  void linkOperand(OpOperand &operand, const LayoutLink &link, unsigned node);

  llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout;
  llvm::function_ref<LayoutEncoding(tt::DotOpInterface)> dotLayout;
  llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout;
  LayoutClasses::Tables tables;
  std::vector<LayoutClass> nodes; ///< only a leader's is used
  llvm::EquivalenceClasses<unsigned> united;
  llvm::DenseSet<Value> rematerialised;
};
} // namespace

//--- nodes ---------------------------------------------------------------------------------

unsigned ClassBuilder::newNode(RankedTensorType tile) {
  const unsigned node = nodes.size();
  nodes.emplace_back().shape = llvm::to_vector(tile.getShape());
  united.insert(node);
  return node;
}

void ClassBuilder::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  united.unionSets(a, b); // `a` remains the leader
  LayoutClass &into = nodes[a], &from = nodes[b];
  for (auto [extent, other] : llvm::zip_equal(into.shape, from.shape))
    extent = std::max(extent, other);
  into.accesses.append(from.accesses);
  into.reductions.append(from.reductions);
}

unsigned ClassBuilder::nodeOf(Value value) {
  auto [entry, isNew] = tables.valueNodes.try_emplace(value, 0);
  if (isNew)
    entry->second = newNode(cast<RankedTensorType>(value.getType()));
  return entry->second;
}

void ClassBuilder::uniteAll(unsigned node, ValueRange values) {
  for (Value value : values)
    if (isTile(value) && !rematerialised.contains(value))
      unite(node, nodeOf(value));
}

void ClassBuilder::addEdge(unsigned start, unsigned end, LayoutTransfer transfer, RankedTensorType moved,
                           Operation *at) {
  Edge &edge = tables.edges.emplace_back();
  edge.start = start;
  edge.end = end;
  edge.transfer = std::move(transfer);
  if (edge.transfer.kind == LayoutTransfer::Kind::Same)
    edge.transfer.from = edge.transfer.to = llvm::to_vector(moved.getShape());
  edge.elementBits = analysis::memoryBits(moved.getElementType());
  edge.loopDepth = loopDepthOf(at);
}

/// A null `layout` means that of function signatures.
void ClassBuilder::addFixed(Value value, LayoutEncoding layout, bool isSource, Operation *at) {
  if (!isTile(value) || rematerialised.contains(value))
    return;
  auto tile = cast<RankedTensorType>(value.getType());
  const unsigned fixed = newNode(tile);
  nodes[fixed].fixed = layout ? layout : signatureLayout(tile);
  addEdge(isSource ? fixed : nodeOf(value), isSource ? nodeOf(value) : fixed, {}, tile, at);
}

//--- ops -----------------------------------------------------------------------------------

bool ClassBuilder::markRematerialised(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return false;
  const bool isLeaf = isa<tt::MakeRangeOp, tt::SplatOp, arith::ConstantOp, ub::PoisonOp>(op);
  auto related = dyn_cast<LayoutRelationOpInterface>(op);
  const bool isDerived = (related ? keepsThreads(related) : keepsLayout(op)) && !isExpensive(op) &&
                         isMemoryEffectFree(op) && llvm::all_of(op->getOperands(), [&](Value operand) {
                           return !isTile(operand) || rematerialised.contains(operand);
                         });
  if (isLeaf || isDerived)
    rematerialised.insert(op->getResult(0));
  return isLeaf || isDerived;
}

LayoutEncoding ClassBuilder::fixedLayout(Operation *op, const LayoutRelation &relation) {
  switch (relation.choice) {
  case LayoutRelation::Choice::Free:
    return {};
  case LayoutRelation::Choice::Accumulator:
    return dotLayout(cast<tt::DotOpInterface>(op));
  case LayoutRelation::Choice::Copy:
    return copyLayout(relation.tile);
  }
  llvm_unreachable("all choices are listed");
}

/// Adds the edge of an operand that may be converted.
void ClassBuilder::linkOperand(OpOperand &operand, const LayoutLink &link, unsigned node) {
  Operation *op = operand.getOwner();
  Value value = operand.get();
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return;
  LayoutEncoding ofDot;
  if (link.kind == LayoutLink::Kind::DotOperand)
    ofDot = tables.dotOperands[&operand] =
        operandLayout(cast<tt::DotOpInterface>(op), operand.getOperandNumber(), nodes[node].fixed);
  if (rematerialised.contains(value))
    return;
  if (link.kind == LayoutLink::Kind::ToOp)
    addEdge(nodeOf(value), node, link.transfer, tile, op);
  else if (link.kind == LayoutLink::Kind::FromOp)
    addEdge(node, nodeOf(value), link.transfer, tile, op);
  else if (ofDot)
    addFixed(value, ofDot, /*isSource=*/false, op);
}

void ClassBuilder::visitRelated(LayoutRelationOpInterface op) {
  const LayoutRelation relation = op.getLayoutRelation();
  if (!relation.tile)
    return;
  const unsigned node = newNode(relation.tile), depth = loopDepthOf(op);
  tables.opNodes[op] = node;
  LayoutClass &own = nodes[node];
  own.fixed = fixedLayout(op, relation);
  if (std::optional<analysis::MemoryAccess> access = analysis::anyAccessOf(op))
    own.accesses.push_back({*access, depth});
  if (relation.combinedAxis)
    own.reductions.push_back({op, *relation.combinedAxis, depth});
  for (auto [link, operand] : llvm::zip_equal(relation.operands, op->getOperands()))
    if (link.kind == LayoutLink::Kind::Same)
      uniteAll(node, operand);
  for (auto [link, result] : llvm::zip_equal(relation.results, op->getResults())) {
    auto tile = dyn_cast<RankedTensorType>(result.getType());
    if (!tile)
      continue;
    const unsigned end = nodeOf(result);
    if (link.kind == LayoutLink::Kind::Same)
      unite(node, end);
    else if (link.kind == LayoutLink::Kind::FromOp)
      addEdge(node, end, link.transfer, tile, op);
  }
  for (auto [link, operand] : llvm::zip_equal(relation.operands, op->getOpOperands()))
    linkOperand(operand, link, node);
}

/// Unites the values of a loop or branch with those that they may become.
void ClassBuilder::visitFlow(RegionBranchOpInterface op) {
  // What a loop carries comes first in its class, and so does the result of a branch.
  const bool isLoop = isa<LoopLikeOpInterface>(*op);
  analysis::forEachForwarded(op, [&](OpOperand &from, Value to) {
    if (!isTile(to))
      return;
    const unsigned node = nodeOf(to);
    if (rematerialised.contains(from.get()))
      return;
    const unsigned source = nodeOf(from.get());
    if (isLoop && isa<OpResult>(to))
      unite(source, node);
    else
      unite(node, source);
  });
}

/// Visits calls and returns; false for other ops.
bool ClassBuilder::visitSignature(Operation *op) {
  if (!isa<tt::CallOp, tt::ReturnOp>(op))
    return false;
  for (Value operand : op->getOperands())
    addFixed(operand, {}, /*isSource=*/false, op);
  for (Value result : op->getResults())
    addFixed(result, {}, /*isSource=*/true, op);
  return true;
}

/// Reports a tile that cannot have a layout.
static LogicalResult checkTile(Operation *op, Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return success();
  if (tile.getEncoding())
    return tt::report(op->getLoc(), diag::TileHasLayout, tile);
  for (int64_t extent : tile.getShape())
    if (!llvm::isPowerOf2_64(extent))
      return op->emitError("tile extent ") << extent << " is not a power of two; threads hold powers of two";
  return success();
}

LogicalResult ClassBuilder::visitOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(checkTile(op, result)))
      return failure();
  if (markRematerialised(op) || visitSignature(op))
    return success();
  if (auto related = dyn_cast<LayoutRelationOpInterface>(op)) {
    visitRelated(related);
  } else if (keepsLayout(op)) {
    for (Value result : op->getResults())
      if (isTile(result)) // an op on scalars has no node
        uniteAll(nodeOf(result), op->getOperands());
  } else if (llvm::any_of(op->getResults(), isTile)) {
    return op->emitError("operation ") << op->getName() << " has no rule for layouts";
  } // else: ops that only read tiles take any layout
  return success();
}

LogicalResult ClassBuilder::visit(tt::FuncOp function) {
  for (BlockArgument argument : function.getArguments()) {
    if (failed(checkTile(function, argument)))
      return failure();
    addFixed(argument, {}, /*isSource=*/true, function);
  }
  // A loop is visited before its body, but its values are rematerialised only if those united with them are.
  SmallVector<RegionBranchOpInterface> control;
  const WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto branch = dyn_cast<RegionBranchOpInterface>(op);
    if (!branch)
      return failed(visitOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
    for (Value value : op->getResults())
      if (failed(checkTile(op, value)))
        return WalkResult::interrupt();
    control.push_back(branch);
    return WalkResult::advance();
  });
  for (RegionBranchOpInterface op : control)
    visitFlow(op);
  return failure(result.wasInterrupted());
}

LayoutClasses ClassBuilder::finish() {
  SmallVector<unsigned> classOfRoot(nodes.size(), ~0u);
  for (unsigned node = 0; node < nodes.size(); ++node) {
    const unsigned root = find(node);
    if (classOfRoot[root] == ~0u) {
      classOfRoot[root] = tables.classes.size();
      tables.classes.push_back(std::move(nodes[root]));
    }
    tables.classOfNode.push_back(classOfRoot[root]);
  }
  for (auto [index, edge] : llvm::enumerate(tables.edges)) {
    edge.start = tables.classOfNode[edge.start];
    edge.end = tables.classOfNode[edge.end];
    tables.classes[edge.start].edges.push_back(index);
    if (edge.end != edge.start)
      tables.classes[edge.end].edges.push_back(index);
  }
  return LayoutClasses(std::move(tables));
}

FailureOr<LayoutClasses> LayoutClasses::build(tt::FuncOp function,
                                              llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout,
                                              llvm::function_ref<LayoutEncoding(tt::DotOpInterface)> dotLayout,
                                              llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout) {
  ClassBuilder builder(signatureLayout, dotLayout, copyLayout);
  if (failed(builder.visit(function)))
    return failure();
  return builder.finish();
}
