// Collects the ops that loads depend on, and builds them with layouts of fewer warps.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/warps/ProducerWarps.h"

#include "compiler/dialect/imported/Dialect.h"
#include "compiler/passes/ttg/LoopParts.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

//--- layouts -------------------------------------------------------------------------------

/// The encoding with the same elements per thread and lanes, over `numWarps` warps; null where there is none.
LayoutEncoding ProducerWarps::encodingFor(LayoutEncoding encoding) const {
  if (auto slice = dyn_cast<SliceAttr>(encoding)) {
    LayoutEncoding parent = encodingFor(slice.getParent());
    return parent ? SliceAttr::get(encoding.getContext(), slice.getDim(), parent) : LayoutEncoding();
  }
  auto blocked = dyn_cast<BlockedAttr>(encoding);
  if (!blocked)
    return {};
  SmallVector<unsigned> warps(blocked.getWarpsPerCTA());
  unsigned count = llvm::product_of(warps);
  // The slowest dimension loses warps first, so that a warp's accesses stay as they are.
  for (unsigned dim : llvm::reverse(blocked.getOrder()))
    for (; count > numWarps && warps[dim] > 1; count /= 2)
      warps[dim] /= 2;
  for (; count < numWarps; count *= 2)
    warps[blocked.getOrder().back()] *= 2;
  return BlockedAttr::get(encoding.getContext(), blocked.getSizePerThread(), blocked.getThreadsPerWarp(), warps,
                          blocked.getOrder());
}

/// The type of a value of the copy; null where there is none.
Type ProducerWarps::typeFor(Type type) const {
  auto tile = dyn_cast<RankedTensorType>(type);
  if (!tile)
    return type;
  LayoutEncoding known = encodingOf(tile);
  LayoutEncoding encoding = known ? encodingFor(known) : LayoutEncoding();
  return encoding ? RankedTensorType::get(tile.getShape(), tile.getElementType(), encoding) : Type();
}

//--- what loads need -----------------------------------------------------------------------

bool ProducerWarps::add(Operation *load) {
  if (!loads.insert(load).second)
    return true;
  ops.insert(load);
  auto ofPointers = dyn_cast<tt::LoadOp>(load);
  const bool areKnown = ofPointers ? need(ofPointers.getPtr()) && (!ofPointers.getMask() || need(ofPointers.getMask()))
                                   : needAll(load->getOperands());
  return areKnown && needAround(load);
}

void ProducerWarps::addAssumptions(tt::FuncOp function) {
  function.walk([&](imported::AssumeOp assumption) {
    Operation *around = assumption->getParentOp();
    if ((around == function || ops.contains(around)) && need(assumption.getCondition()))
      ops.insert(assumption);
  });
}

bool ProducerWarps::needAll(ValueRange needed) {
  return llvm::all_of(needed, [&](Value value) { return need(value); });
}

/// Adds the loops and branches around an op.
bool ProducerWarps::needAround(Operation *op) {
  for (Operation *around = op->getParentOp(); !isa<tt::FuncOp>(around); around = around->getParentOp()) {
    if (!isa<scf::ForOp, scf::IfOp>(around))
      return false;
    if (ops.insert(around).second && !needAll(around->getOperands().take_front(isa<scf::ForOp>(around) ? 3 : 1)))
      return false;
  }
  return true;
}

bool ProducerWarps::need(Value value) {
  if (!values.insert(value).second)
    return true;
  if (!typeFor(value.getType()))
    return false;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return needOp(value.getDefiningOp());
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop)
    return isa<tt::FuncOp>(argument.getOwner()->getParentOp());
  if (value != loop.getInductionVar()) {
    const unsigned index = argument.getArgNumber() - 1;
    if (!needAll({loop.getInitArgs()[index], loop.getYieldedValues()[index], Value(loop.getResult(index))}))
      return false;
  }
  return needAround(&loop.getBody()->front());
}

bool ProducerWarps::needOp(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      if (values.contains(result) && !need(argument))
        return false;
    return needAround(&loop.getBody()->front());
  }
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    for (OpResult result : branch.getResults())
      for (scf::YieldOp yield : {branch.thenYield(), branch.elseYield()})
        if (values.contains(result) && !need(yield.getOperand(result.getResultNumber())))
          return false;
    return needAround(&branch.thenBlock()->front());
  }
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op))
    return false;
  return !ops.insert(op).second || (needAll(op->getOperands()) && needAround(op));
}

//--- the copy ------------------------------------------------------------------------------

void ProducerWarps::build(Block &from, OpBuilder &builder, const Hooks &hooks) {
  IRMapping values;
  buildBlock(from, builder, values, hooks);
}

void ProducerWarps::buildOp(Operation *op, OpBuilder &builder, IRMapping &values) {
  Operation *copy = builder.clone(*op, values);
  for (OpResult result : copy->getResults())
    result.setType(typeFor(result.getType()));
  if (auto constant = dyn_cast<arith::ConstantOp>(copy))
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue()))
      constant.setValueAttr(elements.reshape(cast<ShapedType>(constant.getType())));
}

void ProducerWarps::buildLoop(scf::ForOp loop, OpBuilder &builder, IRMapping &known, const Hooks &hooks) {
  SmallVector<Value> inits;
  SmallVector<unsigned> neededIndices;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (values.contains(argument)) {
      neededIndices.push_back(index);
      inits.push_back(known.lookupOrDefault(loop.getInitArgs()[index]));
    }
  llvm::append_range(inits, hooks.carriedInto(loop));
  auto copy = scf::ForOp::create(builder, loop.getLoc(), known.lookupOrDefault(loop.getLowerBound()),
                                 known.lookupOrDefault(loop.getUpperBound()), known.lookupOrDefault(loop.getStep()),
                                 inits, nullptr, loop.getUnsignedCmp());
  eraseTerminator(*copy.getBody());
  known.map(loop.getInductionVar(), copy.getInductionVar());
  for (auto [position, index] : llvm::enumerate(neededIndices)) {
    known.map(loop.getRegionIterArg(index), copy.getRegionIterArg(position));
    known.map(loop.getResult(index), copy.getResult(position));
  }
  hooks.beginIteration(loop, copy.getRegionIterArgs().drop_front(neededIndices.size()));
  OpBuilder inside = OpBuilder::atBlockEnd(copy.getBody());
  buildBlock(*loop.getBody(), inside, known, hooks);
  SmallVector<Value> yields;
  for (unsigned index : neededIndices)
    yields.push_back(known.lookupOrDefault(loop.getYieldedValues()[index]));
  llvm::append_range(yields, hooks.endIteration(inside, loop));
  scf::YieldOp::create(inside, loop.getLoc(), yields);
  hooks.afterLoop(loop, copy.getResults().drop_front(neededIndices.size()));
}

void ProducerWarps::buildBranch(scf::IfOp branch, OpBuilder &builder, IRMapping &known, const Hooks &hooks) {
  SmallVector<OpResult> neededResults;
  SmallVector<Type> types;
  for (OpResult result : branch.getResults())
    if (values.contains(result)) {
      neededResults.push_back(result);
      types.push_back(typeFor(result.getType()));
    }
  auto copy = scf::IfOp::create(builder, branch.getLoc(), types, known.lookupOrDefault(branch.getCondition()),
                                branch.elseBlock() != nullptr);
  for (auto [from, to] : llvm::zip(branch->getRegions(), copy->getRegions())) {
    if (from.empty())
      continue;
    eraseTerminator(to.front());
    OpBuilder inside = OpBuilder::atBlockEnd(&to.front());
    buildBlock(from.front(), inside, known, hooks);
    SmallVector<Value> yields;
    for (OpResult result : neededResults)
      yields.push_back(known.lookupOrDefault(from.front().getTerminator()->getOperand(result.getResultNumber())));
    scf::YieldOp::create(inside, branch.getLoc(), yields);
  }
  for (auto [index, result] : llvm::enumerate(neededResults))
    known.map(result, copy.getResult(index));
}

void ProducerWarps::buildBlock(Block &from, OpBuilder &builder, IRMapping &known, const Hooks &hooks) {
  for (Operation &op : from) {
    if (!ops.contains(&op))
      continue;
    if (loads.contains(&op))
      hooks.copyLoad(builder, &op, known);
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      buildLoop(loop, builder, known, hooks);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      buildBranch(branch, builder, known, hooks);
    else
      buildOp(&op, builder, known);
  }
}
