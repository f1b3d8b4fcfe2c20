// Splits a kernel's tiles over the CTAs of its cluster; see docs/why/clusters.md.
//
//   %r = tt.make_range {0, 1024}                 %r = tt.make_range {0, 512} + rank * 512
//   %x = tt.load %p : tensor<1024x..>     ->     %x = tt.load %p : tensor<512x..>
//   %s = "tt.reduce"(%x)                         %t = "tt.reduce"(%x)
//                                                %a = ttng.cluster_gather %t : (tensor<1xf32>) -> tensor<2xf32>
//                                                %s = "tt.reduce"(%a)
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/clusters/ClusterHazards.h"
#include "compiler/target/nvidia/passes/clusters/ClusterPlan.h"

#include "compiler/analysis/ValueFlow.h"
#include "compiler/dialect/imported/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/passes/Diagnostics.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_SPLITOVERCLUSTER
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;

namespace {
class Splitter {
public:
  Splitter(tt::FuncOp kernel, const ClusterPlan &plan, const ClusterShape &shape)
      : kernel(kernel), plan(plan), shape(shape), builder(kernel.getLoc(), kernel.getContext()) {}
  void run();

private:
  // Values.
  Type partType(Type whole, unsigned dim) const;
  Value rank();
  Value isFirst();
  Value offsetOf(int64_t partExtent);
  Value partOf(Value value, unsigned dim);
  Value rematerialisedPart(Operation *op, unsigned dim);
  Value wholeOf(Value value);
  Value neededOf(Value value, std::optional<unsigned> dim) { return dim ? partOf(value, *dim) : wholeOf(value); }
  Value splat(Value scalar, Type like);

  // Ops.
  void splitTypes(Operation *op);
  void splitFlow(RegionBranchOpInterface op);
  void split(Operation *op);
  void combineParts(tt::ReduceOp reduce);
  void splitAccess(Operation *access, unsigned dim);
  void splitTensorMaps();
  void guard(Operation *op);
  void wrap(Operation *op);
  void note(Operation *op, Operation *access, bool isPart);

  tt::FuncOp kernel;
  const ClusterPlan &plan;
  const ClusterShape &shape;
  ImplicitLocOpBuilder builder;
  ClusterAccesses accesses;
  llvm::DenseMap<std::pair<Value, unsigned>, Value> parts;
  llvm::DenseSet<Value> copies; ///< the values in `parts`
  llvm::DenseMap<Value, Value> gathered;
  llvm::DenseMap<int64_t, Value> offsets;
  Value rankValue, isFirstValue;
};
} // namespace

//--- values --------------------------------------------------------------------------------

Type Splitter::partType(Type whole, unsigned dim) const {
  auto tile = cast<RankedTensorType>(whole);
  SmallVector<int64_t> extents(tile.getShape());
  extents[dim] /= shape.numCtas;
  return tile.clone(extents);
}

/// Values of the CTA are computed at the start of the kernel.
Value Splitter::rank() {
  if (!rankValue) {
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointToStart(&kernel.getBody().front());
    rankValue = ttng::ClusterRankOp::create(builder, builder.getI32Type());
  }
  return rankValue;
}

Value Splitter::isFirst() {
  if (!isFirstValue) {
    Value own = rank();
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointAfterValue(own);
    Value zero = arith::ConstantIntOp::create(builder, 0, 32);
    isFirstValue = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, own, zero);
  }
  return isFirstValue;
}

/// The index at which the CTA's part begins.
Value Splitter::offsetOf(int64_t partExtent) {
  Value &offset = offsets[partExtent];
  if (!offset) {
    Value own = rank();
    OpBuilder::InsertionGuard insertion(builder);
    builder.setInsertionPointAfterValue(own);
    offset = arith::MulIOp::create(builder, own, arith::ConstantIntOp::create(builder, partExtent, 32));
  }
  return offset;
}

Value Splitter::splat(Value scalar, Type like) {
  auto tile = dyn_cast<RankedTensorType>(like);
  return tile ? Value(tt::SplatOp::create(builder, tile.clone(scalar.getType()), scalar)) : scalar;
}

/// A copy of the op that computes a part of its result, after it.
Value Splitter::rematerialisedPart(Operation *op, unsigned dim) {
  const Type type = partType(op->getResult(0).getType(), dim);
  IRMapping mapping;
  for (const SplitDim &own : splitDimsOf(op))
    if (own.results.front() == dim)
      for (auto [operand, valueDim] : llvm::zip_equal(op->getOperands(), own.operands))
        if (valueDim)
          mapping.map(operand, partOf(operand, *valueDim));
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointAfter(op);
  builder.setLoc(op->getLoc());
  if (auto range = dyn_cast<tt::MakeRangeOp>(op)) {
    const int64_t extent = tt::shapeOf(type).front();
    Value own = tt::MakeRangeOp::create(builder, type, range.getStart(), range.getStart() + int32_t(extent));
    return arith::AddIOp::create(builder, own, splat(offsetOf(extent), type));
  }
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto element = cast<SplatElementsAttr>(constant.getValue()).getSplatValue<Attribute>();
    return arith::ConstantOp::create(builder, DenseElementsAttr::get(cast<ShapedType>(type), element));
  }
  Operation *part = builder.clone(*op, mapping);
  part->getResult(0).setType(type);
  return part->getResult(0);
}

Value Splitter::partOf(Value value, unsigned dim) {
  if (copies.contains(value)) // an operand that a loop forwards to an argument and to a result
    return value;
  if (!plan.rematerialised.contains(value)) {
    assert(plan.splitOf.lookup_or(value, ~0u) == dim && "tiles of one class are split alike");
    return value;
  }
  if (Value known = parts.lookup({value, dim}))
    return known;
  Value part = rematerialisedPart(value.getDefiningOp(), dim);
  parts[{value, dim}] = part;
  copies.insert(part);
  return part;
}

/// All parts of a value, after its definition.
Value Splitter::wholeOf(Value value) {
  auto split = plan.splitOf.find(value);
  if (split == plan.splitOf.end())
    return value;
  Value &whole = gathered[value];
  if (whole)
    return whole;
  auto part = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> extents(part.getShape());
  extents[split->second] *= shape.numCtas;
  OpBuilder::InsertionGuard insertion(builder);
  builder.setInsertionPointAfterValue(value);
  builder.setLoc(value.getLoc());
  whole = ttng::ClusterGatherOp::create(builder, part.clone(extents), value, split->second).getResult(0);
  return whole;
}

//--- ops -----------------------------------------------------------------------------------

/// Results and region arguments that are split get the types of their parts.
void Splitter::splitTypes(Operation *op) {
  auto splitType = [&](Value value) {
    if (auto split = plan.splitOf.find(value); split != plan.splitOf.end())
      value.setType(partType(value.getType(), split->second));
  };
  for (Value result : op->getResults())
    splitType(result);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      splitType(argument);
}

void Splitter::splitFlow(RegionBranchOpInterface op) {
  analysis::forEachForwarded(op, [&](OpOperand &from, Value to) {
    if (!isa<RankedTensorType>(to.getType()))
      return;
    auto split = plan.splitOf.find(to);
    from.set(neededOf(from.get(), split == plan.splitOf.end() ? std::nullopt : std::optional(split->second)));
  });
}

/// Combines the partial results of all CTAs, in the order of their ranks.
void Splitter::combineParts(tt::ReduceOp reduce) {
  builder.setInsertionPointAfter(reduce);
  builder.setLoc(reduce.getLoc());
  SmallVector<Value> partials;
  SmallVector<Type> types;
  llvm::SmallPtrSet<Operation *, 4> own;
  for (Value result : reduce.getResults()) {
    SmallVector<int64_t> extents(tt::shapeOf(result.getType()));
    extents.insert(extents.begin(), 1);
    const Type element = tt::elementOf(result.getType());
    auto type = RankedTensorType::get(extents, element);
    Value partial = isa<RankedTensorType>(result.getType()) ? Value(tt::ExpandDimsOp::create(builder, type, result, 0))
                                                            : Value(tt::SplatOp::create(builder, type, result));
    partials.push_back(partial);
    own.insert(partial.getDefiningOp());
    extents.front() = shape.numCtas;
    types.push_back(RankedTensorType::get(extents, element));
  }
  auto gather = ttng::ClusterGatherOp::create(builder, types, partials, 0);
  IRMapping mapping;
  auto all = cast<tt::ReduceOp>(builder.clone(*reduce, mapping));
  all->setOperands(gather.getResults());
  all.setAxis(0);
  for (auto [partial, combined] : llvm::zip_equal(reduce.getResults(), all.getResults()))
    partial.replaceUsesWithIf(combined, [&](OpOperand &use) { return !own.contains(use.getOwner()); });
}

/// A tile access begins at the CTA's part of the block.
void Splitter::splitAccess(Operation *access, unsigned dim) {
  auto load = dyn_cast<ttng::TileLoadOp>(access);
  auto store = dyn_cast<ttng::TileStoreOp>(access);
  SmallVector<int64_t> block(load ? load.getBlock() : store.getBlock());
  block[dim] /= shape.numCtas;
  MutableOperandRange indices = load ? load.getIndicesMutable() : store.getIndicesMutable();
  builder.setInsertionPoint(access);
  builder.setLoc(access->getLoc());
  Value offset = offsetOf(block[dim]);
  indices[dim].set(arith::AddIOp::create(builder, indices[dim].get(), offset));
  load ? load.setBlock(block) : store.setBlock(block);
}

void Splitter::splitTensorMaps() {
  for (auto [map, dim] : plan.blockSplitOf) {
    if (auto make = map.getDefiningOp<ttng::MakeTensorMapOp>()) {
      SmallVector<int64_t> block(make.getBlock());
      block[dim] /= shape.numCtas;
      make.setBlock(block);
      continue;
    }
    const unsigned index = cast<BlockArgument>(map).getArgNumber();
    auto block = kernel.getArgAttrOfType<TypeAttr>(index, ttng::kTensorMap);
    kernel.setArgAttr(index, ttng::kTensorMap, TypeAttr::get(partType(block.getValue(), dim)));
  }
}

void Splitter::note(Operation *op, Operation *access, bool isPart) {
  if (std::optional<ClusterAccess> own = clusterAccessOf(*access, isPart))
    accesses[op] = *own;
}

/// Only the first CTA executes the op; what it returns is broadcast.
void Splitter::wrap(Operation *op) {
  builder.setInsertionPoint(op);
  builder.setLoc(op->getLoc());
  SmallVector<Value> used;
  llvm::copy_if(op->getResults(), std::back_inserter(used), [](Value result) { return !result.use_empty(); });
  const SmallVector<Type> types = llvm::map_to_vector(used, [](Value result) { return result.getType(); });
  auto branch = scf::IfOp::create(builder, types, isFirst(), /*withElseRegion=*/!types.empty());
  builder.setInsertionPointAfter(branch);
  for (auto [result, chosen] : llvm::zip_equal(used, branch.getResults()))
    result.replaceAllUsesWith(ttng::ClusterBroadcastOp::create(builder, chosen.getType(), chosen).getResult());
  op->moveBefore(branch.thenBlock(), branch.thenBlock()->begin());
  note(branch, op, /*isPart=*/false);
  if (types.empty())
    return;
  builder.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(builder, used);
  builder.setInsertionPointToEnd(branch.elseBlock());
  SmallVector<Value> none;
  for (Type type : types)
    none.push_back(ub::PoisonOp::create(builder, type, ub::PoisonAttr::get(builder.getContext())));
  scf::YieldOp::create(builder, none);
}

/// The side effects of an op that every CTA would execute as a whole are those of the first CTA.
void Splitter::guard(Operation *op) {
  if (auto store = dyn_cast<tt::StoreOp>(op)) {
    builder.setInsertionPoint(op);
    builder.setLoc(op->getLoc());
    Value mask = splat(isFirst(), store.getPtr().getType());
    if (store.getMask())
      mask = arith::AndIOp::create(builder, store.getMask(), mask);
    store.getMaskMutable().assign(mask);
    return note(op, op, /*isPart=*/false);
  }
  auto load = dyn_cast<tt::LoadOp>(op);
  const bool isRead = load ? !load.getIsVolatile() : isa<ttng::TileLoadOp>(op);
  if (isRead || isa<tt::AssertOp, ttng::MakeTensorMapOp, ttg::BarrierOp, imported::BarrierOp, imported::AssumeOp>(op) ||
      isMemoryEffectFree(op) || isa<scf::SCFDialect>(op->getDialect()))
    return note(op, op, /*isPart=*/false);
  wrap(op);
}

void Splitter::split(Operation *op) {
  if (auto flow = dyn_cast<RegionBranchOpInterface>(op)) {
    splitFlow(flow);
    return splitTypes(op);
  }
  if (op->hasTrait<OpTrait::IsTerminator>())
    return;
  auto own = plan.dimOf.find(op);
  const bool isSplit = own != plan.dimOf.end();
  for (OpOperand &operand : op->getOpOperands())
    if (isa<RankedTensorType>(operand.get().getType()))
      operand.set(neededOf(operand.get(), isSplit ? own->second.operands[operand.getOperandNumber()] : std::nullopt));
  splitTypes(op);
  if (isa<ttg::BarrierOp, imported::BarrierOp>(op)) {
    builder.setInsertionPoint(op);
    ttng::ClusterBarrierOp::create(builder);
  }
  if (!isSplit)
    return guard(op);
  note(op, op, /*isPart=*/true);
  if (auto reduce = dyn_cast<tt::ReduceOp>(op); reduce && own->second.isCombined)
    combineParts(reduce);
  if (isa<ttng::TileLoadOp>(op))
    splitAccess(op, *own->second.results.front());
  else if (auto store = dyn_cast<ttng::TileStoreOp>(op))
    splitAccess(op, *own->second.operands[store.getSrcMutable().getOperandNumber()]);
}

void Splitter::run() {
  SmallVector<Operation *> ops, rematerialised;
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    const bool isCopied = op->getNumResults() == 1 && plan.rematerialised.contains(op->getResult(0));
    (isCopied ? rematerialised : ops).push_back(op);
    const bool hasElementRegion = op->getNumRegions() > 0 && !isa<scf::SCFDialect>(op->getDialect());
    return hasElementRegion ? WalkResult::skip() : WalkResult::advance();
  });
  for (Operation *op : ops)
    split(op);
  splitTensorMaps();
  for (Operation *op : llvm::reverse(rematerialised))
    if (op->use_empty())
      op->erase();
  insertClusterBarriers(kernel, accesses);
  relaxExchanges(kernel);
}

namespace {
struct SplitOverCluster : nvidia::impl::SplitOverClusterBase<SplitOverCluster> {
  using SplitOverClusterBase::SplitOverClusterBase;

  void runOnOperation() final {
    const ClusterShape shape{numCtas, maxBytes, wherePossible};
    for (auto kernel : getOperation().getOps<tt::FuncOp>()) {
      if (kernel.isExternal() || !kernel.isPublic())
        continue;
      const ClusterPlan plan = planCluster(kernel, shape);
      if (plan.text.empty()) {
        const Location loc = plan.culprit->getLoc();
        tt::report(loc, diag::NumCtasIdle, numCtas.getValue(), plan.reason);
        continue;
      }
      Splitter(kernel, plan, shape).run();
      getOperation()->setAttr(ttng::kClusterSplit, StringAttr::get(&getContext(), plan.text));
      tt::report(kernel.getLoc(), diag::NumCtasSplit, numCtas.getValue(), plan.text);
    }
  }
};
} // namespace
