// Visits a function's ops and unites the tiles that share a layout.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/LayoutClasses.h"

#include "compiler/analysis/GatherPlan.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/passes/ttg/DotLayouts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Ops whose result costs more to recompute than to convert.
static bool isExpensive(Operation *op) {
  return isa<math::MathDialect>(op->getDialect()) ||
         isa<arith::DivFOp, arith::RemFOp, tt::PreciseDivFOp, tt::PreciseSqrtOp>(op);
}

static bool keepsLayout(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() || isa<tt::BroadcastOp, tt::MapElementwiseOp>(op);
}

static bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

static unsigned loopDepthOf(Operation *op) {
  unsigned depth = 0;
  for (Operation *parent = op->getParentOp(); parent; parent = parent->getParentOp())
    depth += isa<LoopLikeOpInterface>(parent);
  return depth;
}

namespace nereid::ttg {
class ClassBuilder {
public:
  ClassBuilder(llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout,
               llvm::function_ref<LayoutEncoding(tt::DotOp)> dotLayout,
               llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout)
      : signatureLayout(signatureLayout), dotLayout(dotLayout), copyLayout(copyLayout) {}

  LogicalResult visit(tt::FuncOp function);
  void finish();

  LayoutClasses classes;

private:
  struct Node {
    unsigned parent;
    LayoutClass layoutClass;
  };

  unsigned newNode(RankedTensorType tile);
  unsigned find(unsigned node);
  void unite(unsigned a, unsigned b);
  unsigned nodeOf(Value value);
  /// Unites the node with the tiles among `values` that are not rematerialised.
  void uniteAll(unsigned node, ValueRange values);
  void unitePairs(ValueRange a, ValueRange b);
  void addEdge(unsigned start, unsigned end, LayoutTransfer transfer, RankedTensorType moved, Operation *at);
  void addFixed(Value value, LayoutEncoding layout, bool isSource, Operation *at);

  bool markRematerialised(Operation *op);
  LogicalResult visitOp(Operation *op);
  bool visitControl(Operation *op);
  void visitAccess(const analysis::MemoryAccess &access);
  void visitTileLoad(AsyncTileLoad load);
  void visitReduce(tt::ReduceOp reduce);
  void visitDot(tt::DotOp dot);
  void visitScan(tt::ScanOp scan);
  void visitTwo(Operation *op);
  void visitSplit(tt::SplitOp split);
  void visitGather(tt::GatherOp gather);
  bool visitRearrangement(Operation *op);

  llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout;
  llvm::function_ref<LayoutEncoding(tt::DotOp)> dotLayout;
  llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout;
  std::vector<Node> nodes;
  llvm::DenseSet<Value> rematerialised;
};
} // namespace nereid::ttg

//--- nodes ---------------------------------------------------------------------------------

unsigned ClassBuilder::newNode(RankedTensorType tile) {
  Node &node = nodes.emplace_back();
  node.parent = nodes.size() - 1;
  node.layoutClass.shape = llvm::to_vector(tile.getShape());
  return node.parent;
}

unsigned ClassBuilder::find(unsigned node) {
  while (nodes[node].parent != node)
    node = nodes[node].parent = nodes[nodes[node].parent].parent;
  return node;
}

void ClassBuilder::unite(unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return;
  nodes[b].parent = a;
  LayoutClass &into = nodes[a].layoutClass, &from = nodes[b].layoutClass;
  for (auto [extent, other] : llvm::zip_equal(into.shape, from.shape))
    extent = std::max(extent, other);
  into.accesses.append(from.accesses);
  into.reductions.append(from.reductions);
}

unsigned ClassBuilder::nodeOf(Value value) {
  auto [entry, isNew] = classes.valueNodes.try_emplace(value, 0);
  if (isNew)
    entry->second = newNode(cast<RankedTensorType>(value.getType()));
  return entry->second;
}

void ClassBuilder::uniteAll(unsigned node, ValueRange values) {
  for (Value value : values)
    if (isTile(value) && !rematerialised.contains(value))
      unite(node, nodeOf(value));
}

void ClassBuilder::unitePairs(ValueRange a, ValueRange b) {
  for (auto [first, second] : llvm::zip_equal(a, b))
    if (isTile(first) && !rematerialised.contains(first))
      uniteAll(nodeOf(first), second);
}

void ClassBuilder::addEdge(unsigned start, unsigned end, LayoutTransfer transfer, RankedTensorType moved,
                           Operation *at) {
  Edge &edge = classes.edgeList.emplace_back();
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
  nodes[fixed].layoutClass.fixed = layout ? layout : signatureLayout(tile);
  addEdge(isSource ? fixed : nodeOf(value), isSource ? nodeOf(value) : fixed, {}, tile, at);
}

//--- ops -----------------------------------------------------------------------------------

bool ClassBuilder::markRematerialised(Operation *op) {
  if (op->getNumResults() != 1 || !isTile(op->getResult(0)))
    return false;
  const bool isLeaf = isa<tt::MakeRangeOp, tt::SplatOp, arith::ConstantOp, ub::PoisonOp>(op);
  const bool isDerived = (keepsLayout(op) || shapeTransfer(op)) && !isExpensive(op) && isMemoryEffectFree(op) &&
                         llvm::all_of(op->getOperands(), [&](Value operand) {
                           return !isTile(operand) || rematerialised.contains(operand);
                         });
  if (isLeaf || isDerived)
    rematerialised.insert(op->getResult(0));
  return isLeaf || isDerived;
}

void ClassBuilder::visitAccess(const analysis::MemoryAccess &access) {
  if (!access.tile())
    return;
  Operation *op = access.op;
  const unsigned node = newNode(access.tile());
  classes.opNodes[op] = node;
  nodes[node].layoutClass.accesses.push_back({access, loopDepthOf(op)});
  for (Value operand : op->getOperands())
    if (operand != access.value)
      uniteAll(node, operand);
  if (op->getNumResults())
    addEdge(node, nodeOf(op->getResult(0)), {}, cast<RankedTensorType>(op->getResult(0).getType()), op);
  if (access.value && !rematerialised.contains(access.value))
    addEdge(nodeOf(access.value), node, {}, cast<RankedTensorType>(access.value.getType()), op);
}

/// Threads may load any layout from shared memory; this is the layout where nothing else decides.
void ClassBuilder::visitTileLoad(AsyncTileLoad load) {
  auto tile = cast<RankedTensorType>(load->getResult(0).getType());
  const unsigned node = newNode(tile);
  classes.opNodes[load] = node;
  nodes[node].layoutClass.fixed = copyLayout(tile);
  addEdge(node, nodeOf(load->getResult(0)), {}, tile, load);
}

void ClassBuilder::visitReduce(tt::ReduceOp reduce) {
  auto tile = cast<RankedTensorType>(reduce.getSrcs().front().getType());
  const unsigned node = newNode(tile);
  classes.opNodes[reduce] = node;
  nodes[node].layoutClass.reductions.push_back({reduce, unsigned(reduce.getAxis()), loopDepthOf(reduce)});
  uniteAll(node, reduce.getSrcs());
  if (!isTile(reduce.getResult(0)))
    return;
  LayoutTransfer transfer{
      LayoutTransfer::Kind::Slice, unsigned(reduce.getAxis()), {}, llvm::to_vector(tile.getShape()), {}};
  transfer.to = llvm::to_vector(tt::shapeOf(reduce.getResult(0).getType()));
  for (Value result : reduce.getResults())
    addEdge(node, nodeOf(result), transfer, cast<RankedTensorType>(result.getType()), reduce);
}

void ClassBuilder::visitDot(tt::DotOp dot) {
  const unsigned node = newNode(dot.getType());
  classes.opNodes[dot] = node;
  const LayoutEncoding accumulator = nodes[node].layoutClass.fixed = dotLayout(dot);
  if (!rematerialised.contains(dot.getC()))
    addEdge(nodeOf(dot.getC()), node, {}, dot.getType(), dot);
  addEdge(node, nodeOf(dot.getD()), {}, dot.getType(), dot);
  for (auto [index, operand] : llvm::enumerate(ValueRange{dot.getA(), dot.getB()}))
    if (LayoutEncoding layout = operandLayout(dot, index, accumulator))
      addFixed(operand, layout, /*isSource=*/false, dot);
}

void ClassBuilder::visitScan(tt::ScanOp scan) {
  const unsigned node = newNode(cast<RankedTensorType>(scan.getSrcs().front().getType()));
  classes.opNodes[scan] = node;
  nodes[node].layoutClass.reductions.push_back({scan, unsigned(scan.getAxis()), loopDepthOf(scan)});
  uniteAll(node, scan.getSrcs());
  uniteAll(node, scan.getResults());
}

/// Visits an op that joins two tiles to one.
void ClassBuilder::visitTwo(Operation *op) {
  const unsigned node = newNode(cast<RankedTensorType>(op->getOperand(0).getType()));
  classes.opNodes[op] = node;
  uniteAll(node, op->getOperands());
  Value whole = op->getResult(0);
  addEdge(node, nodeOf(whole), halfTransfer(op), cast<RankedTensorType>(whole.getType()), op);
}

void ClassBuilder::visitSplit(tt::SplitOp split) {
  auto half = cast<RankedTensorType>(split.getOutLHS().getType());
  const unsigned node = newNode(half);
  classes.opNodes[split] = node;
  for (Value result : split->getResults())
    addEdge(node, nodeOf(result), {}, half, split);
  if (!rematerialised.contains(split.getSrc()))
    addEdge(node, nodeOf(split.getSrc()), halfTransfer(split), cast<RankedTensorType>(split.getSrc().getType()), split);
}

void ClassBuilder::visitGather(tt::GatherOp gather) {
  const unsigned node = nodeOf(gather.getResult());
  classes.opNodes[gather] = node;
  uniteAll(node, gather.getIndices());
  // A gather by exchange between threads needs no buffer if both tiles have one layout.
  if (!rematerialised.contains(gather.getSrc()) && analysis::exchangeDistance(gather))
    addEdge(nodeOf(gather.getSrc()), node, {}, cast<RankedTensorType>(gather.getType()), gather);
}

/// Visits scans and ops that move elements; false for other ops.
bool ClassBuilder::visitRearrangement(Operation *op) {
  if (auto scan = dyn_cast<tt::ScanOp>(op)) {
    visitScan(scan);
  } else if (isa<tt::JoinOp, tt::CatOp>(op)) {
    visitTwo(op);
  } else if (auto split = dyn_cast<tt::SplitOp>(op)) {
    visitSplit(split);
  } else if (auto gather = dyn_cast<tt::GatherOp>(op)) {
    visitGather(gather);
  } else if (auto histogram = dyn_cast<tt::HistogramOp>(op)) {
    const unsigned node = newNode(cast<RankedTensorType>(histogram.getSrc().getType()));
    classes.opNodes[op] = node;
    uniteAll(node, op->getOperands());
    nodeOf(histogram.getResult());
  } else {
    return false;
  }
  return true;
}

/// Visits loops, branches, calls and returns; false for other ops.
bool ClassBuilder::visitControl(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    unitePairs(loop.getRegionIterArgs(), loop.getInitArgs());
    unitePairs(loop.getRegionIterArgs(), loop.getYieldedValues());
    unitePairs(loop.getRegionIterArgs(), loop.getResults());
  } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    unitePairs(loop.getBeforeArguments(), loop.getInits());
    unitePairs(loop.getBeforeArguments(), loop.getYieldOp().getResults());
    unitePairs(loop.getAfterArguments(), loop.getConditionOp().getArgs());
    unitePairs(loop.getAfterArguments(), loop.getResults());
  } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions())
      if (!region.empty())
        unitePairs(op->getResults(), region.front().getTerminator()->getOperands());
  } else if (isa<tt::CallOp, tt::ReturnOp>(op)) {
    for (Value operand : op->getOperands())
      addFixed(operand, {}, /*isSource=*/false, op);
    for (Value result : op->getResults())
      addFixed(result, {}, /*isSource=*/true, op);
  } else {
    return isa<tt::FuncOp, scf::YieldOp, scf::ConditionOp, tt::ReduceReturnOp, tt::ScanReturnOp,
               tt::MapElementwiseReturnOp>(op);
  }
  return true;
}

/// Reports a tile that cannot have a layout.
static LogicalResult checkTile(Operation *op, Value value) {
  auto tile = dyn_cast<RankedTensorType>(value.getType());
  if (!tile)
    return success();
  if (tile.getEncoding())
    return op->emitError("a tile already has a layout: ") << tile;
  for (int64_t extent : tile.getShape())
    if (!llvm::isPowerOf2_64(extent))
      return op->emitError("tile extent ") << extent << " is not a power of two; threads hold powers of two";
  return success();
}

LogicalResult ClassBuilder::visitOp(Operation *op) {
  for (Value result : op->getResults())
    if (failed(checkTile(op, result)))
      return failure();
  if (markRematerialised(op) || visitControl(op))
    return success();
  if (auto access = analysis::anyAccessOf(op)) {
    visitAccess(*access);
  } else if (auto load = dyn_cast<AsyncTileLoad>(op)) {
    visitTileLoad(load);
  } else if (auto reduce = dyn_cast<tt::ReduceOp>(op)) {
    visitReduce(reduce);
  } else if (auto dot = dyn_cast<tt::DotOp>(op)) {
    visitDot(dot);
  } else if (visitRearrangement(op)) {
    return success();
  } else if (auto transfer = shapeTransfer(op)) {
    Value source = op->getOperand(0), result = op->getResult(0);
    addEdge(nodeOf(source), nodeOf(result), *transfer, cast<RankedTensorType>(source.getType()), op);
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
  SmallVector<Operation *> control;
  const WalkResult result = function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<RegionBranchOpInterface>(op) && !isa<tt::ReduceOp>(op)) {
      for (Value value : op->getResults())
        if (failed(checkTile(op, value)))
          return WalkResult::interrupt();
      control.push_back(op);
      return WalkResult::advance();
    }
    return failed(visitOp(op)) ? WalkResult::interrupt() : WalkResult::advance();
  });
  for (Operation *op : control)
    if (!visitControl(op) && llvm::any_of(op->getResults(), isTile))
      return op->emitError("operation ") << op->getName() << " has no rule for layouts";
  return failure(result.wasInterrupted());
}

void ClassBuilder::finish() {
  SmallVector<unsigned> classOfRoot(nodes.size(), ~0u);
  for (unsigned node = 0; node < nodes.size(); ++node) {
    const unsigned root = find(node);
    if (classOfRoot[root] == ~0u) {
      classOfRoot[root] = classes.list.size();
      classes.list.push_back(std::move(nodes[root].layoutClass));
    }
    classes.classOfNode.push_back(classOfRoot[root]);
  }
  for (auto [index, edge] : llvm::enumerate(classes.edgeList)) {
    edge.start = classes.classOfNode[edge.start];
    edge.end = classes.classOfNode[edge.end];
    classes.list[edge.start].edges.push_back(index);
    if (edge.end != edge.start)
      classes.list[edge.end].edges.push_back(index);
  }
}

FailureOr<LayoutClasses> LayoutClasses::build(tt::FuncOp function,
                                              llvm::function_ref<LayoutEncoding(RankedTensorType)> signatureLayout,
                                              llvm::function_ref<LayoutEncoding(tt::DotOp)> dotLayout,
                                              llvm::function_ref<LayoutEncoding(RankedTensorType)> copyLayout) {
  ClassBuilder builder(signatureLayout, dotLayout, copyLayout);
  if (failed(builder.visit(function)))
    return failure();
  builder.finish();
  return std::move(builder.classes);
}
