// Reductions inside a nest: independent accumulators in the lanes of a wide vector, a tree at the end.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/plan/Combiner.h"

#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The axis of the nest's reductions or scans.
int NestEmitter::reduceAxis() const {
  for (const Root &root : nest.roots) {
    if (root.kind == RootKind::Reduce)
      return cast<tt::ReduceOp>(root.op).getAxis();
    if (root.kind == RootKind::Scan)
      return cast<tt::ScanOp>(root.op).getAxis();
  }
  return -1;
}

static bool isIdempotent(Operation *op) {
  return isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp>(op);
}

/// Whether the combiner adds floats of 16 or 8 bits, which are held as bits and have no float instruction.
static bool isSmallFloatSum(Operation *combiner) {
  return isa<arith::AddFOp>(combiner) && combiner->getResult(0).getType().getIntOrFloatBitWidth() <= 16;
}

void NestEmitter::beginReductions() {
  for (Reduction &reduction : reductions) {
    auto reduce = cast<tt::ReduceOp>(reduction.root->op);
    reduction.accumulators.clear();
    reduction.identities.clear();
    reduction.tail.clear();
    reduction.hasTail = false;
    reduction.isStarted = nullptr;
    const unsigned count = nest.vectorDim >= 0 ? nest.lanes : 1;
    llvm::Constant *identity = function.lanes.identityOf(singleCombiner(reduce));
    for (Value operand : reduce.getSrcs()) {
      llvm::Type *type = function.lanes.typeOf(tt::elementOf(operand.getType()), count);
      reduction.accumulators.push_back(function.local(type, "acc"));
      llvm::Value *start = llvm::Constant::getNullValue(type);
      if (identity)
        start = count > 1 ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(count), identity) : identity;
      ir.CreateStore(start, reduction.accumulators.back());
    }
    if (!identity) {
      reduction.isStarted = function.local(ir.getInt1Ty(), "started");
      ir.CreateStore(ir.getFalse(), reduction.isStarted);
    }
  }
}

FailureOr<SmallVector<llvm::Value *>> NestEmitter::combine(const Root &root, ArrayRef<llvm::Value *> left,
                                                           ArrayRef<llvm::Value *> right) {
  SmallVector<llvm::Value *> args(left);
  args.append(right.begin(), right.end());
  return applyRegion(root.op->getRegion(0).front(), args);
}

FailureOr<SmallVector<llvm::Value *>> NestEmitter::applyRegion(Block &body, ArrayRef<llvm::Value *> args) {
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), args))
    function.define(argument, value);
  auto *vector = dyn_cast<llvm::FixedVectorType>(args.front()->getType());
  if (!vector) { // scalars may have control flow of their own
    llvm::Instruction *anchor = &*ir.GetInsertPoint();
    llvm::BasicBlock *before = anchor->getParent();
    llvm::BasicBlock *after = before->splitBasicBlock(anchor->getIterator(), "combined");
    before->getTerminator()->eraseFromParent();
    ir.SetInsertPoint(before);
    restoreLocation();
    auto results = function.emitScalarBlock(body);
    ir.CreateBr(after);
    ir.SetInsertPoint(anchor);
    restoreLocation();
    return results;
  }
  llvm::DenseMap<Value, llvm::Value *> values;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), args))
    values[argument] = value;
  auto lookup = [&](Value value) {
    if (llvm::Value *known = values.lookup(value))
      return known;
    return ir.CreateVectorSplat(vector->getNumElements(), function.scalar(value));
  };
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<llvm::Value *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    auto results = function.lanes.emit(&op, operands);
    if (results.empty())
      return failure();
    for (auto [result, emitted] : llvm::zip_equal(op.getResults(), results))
      values[result] = emitted;
  }
  SmallVector<llvm::Value *> results;
  for (Value operand : body.getTerminator()->getOperands())
    results.push_back(lookup(operand));
  return results;
}

/// The operands' elements in the chunk, all as vectors.
FailureOr<SmallVector<llvm::Value *>> NestEmitter::vectorsOf(Operation *op, unsigned level) {
  SmallVector<llvm::Value *> values;
  for (Value operand : op->getOperands()) {
    Element element = evaluate(operand, identityMap(nest.shape.size()), level);
    if (!element)
      return failure();
    insertAt(level);
    values.push_back(asVector(element));
  }
  insertAt(level);
  return values;
}

LogicalResult NestEmitter::accumulate(Reduction &reduction, unsigned level) {
  auto values = vectorsOf(reduction.root->op, level);
  return failed(values) ? failure() : accumulateValues(reduction, *values);
}

LogicalResult NestEmitter::accumulateValues(Reduction &reduction, ArrayRef<llvm::Value *> values) {
  SmallVector<llvm::Value *> current;
  for (llvm::AllocaInst *slot : reduction.accumulators)
    current.push_back(ir.CreateLoad(slot->getAllocatedType(), slot));
  auto combined = combine(*reduction.root, current, values);
  if (failed(combined))
    return failure();
  for (auto [index, slot] : llvm::enumerate(reduction.accumulators)) {
    llvm::Value *value = (*combined)[index];
    if (reduction.isStarted)
      value = ir.CreateSelect(ir.CreateLoad(ir.getInt1Ty(), reduction.isStarted), value, values[index]);
    ir.CreateStore(value, slot);
  }
  if (reduction.isStarted)
    ir.CreateStore(ir.getTrue(), reduction.isStarted);
  return success();
}

//--- the inactive part ---------------------------------------------------------------------

/// Combines `count` equal elements in closed form, where that is possible.
bool NestEmitter::addTail(Reduction &reduction, unsigned level, llvm::Value *count) {
  auto reduce = cast<tt::ReduceOp>(reduction.root->op);
  Operation *combiner = singleCombiner(reduce);
  const bool isSum = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner);
  Value operand = reduce.getSrcs().front();
  const IndexMap map = identityMap(nest.shape.size());
  if (!combiner || isSmallFloatSum(combiner) || !(isSum || isIdempotent(combiner)) ||
      !isUniformWhenInactive(operand, map))
    return false;
  mode = Mode::Inactive;
  inactiveScalar = true;
  Element element = evaluate(operand, map, level);
  inactiveScalar = false;
  if (!element)
    return true; // the failure has been reported
  insertAt(level);
  llvm::Constant *identity = function.lanes.identityOf(combiner);
  auto *constant = dyn_cast<llvm::Constant>(element.value);
  if (constant && (constant == identity || (isSum && (constant->isNullValue() || constant->isZeroValue()))))
    return true;
  llvm::Value *tail = element.value;
  if (isa<arith::AddFOp>(combiner))
    tail = ir.CreateFMul(tail, ir.CreateSIToFP(count, tail->getType()));
  else if (isSum)
    tail = ir.CreateMul(tail, ir.CreateZExtOrTrunc(count, tail->getType()));
  tail = ir.CreateSelect(ir.CreateICmpSGT(count, ir.getInt64(0)), tail, identity);
  reduction.tail.push_back({tail, false});
  return true;
}

//--- results -------------------------------------------------------------------------------

LogicalResult NestEmitter::finishReductions(unsigned level) {
  for (Reduction &reduction : reductions)
    if (failed(finish(reduction, level)))
      return failure();
  return success();
}

/// The lower or the upper half of a vector's lanes; a scalar where one lane is left.
static llvm::Value *half(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned lanes, bool isUpper) {
  if (lanes == 1)
    return ir.CreateExtractElement(value, isUpper ? 1 : 0);
  SmallVector<int> pick;
  for (unsigned lane = 0; lane < lanes; ++lane)
    pick.push_back(lane + (isUpper ? lanes : 0));
  return ir.CreateShuffleVector(value, pick);
}

LogicalResult NestEmitter::finish(Reduction &reduction, unsigned level) {
  function.setLocation(reduction.root->op->getLoc());
  insertAt(level);
  SmallVector<llvm::Value *> values;
  for (llvm::AllocaInst *slot : reduction.accumulators)
    values.push_back(ir.CreateLoad(slot->getAllocatedType(), slot));
  const int axis = reduceAxis();
  const bool isAcrossLanes = axis == nest.vectorDim || nest.vectorDim < 0;
  auto *vector = dyn_cast<llvm::FixedVectorType>(values.front()->getType());
  if (isAcrossLanes && vector && nest.shape[axis] != 1)
    for (unsigned lanes = vector->getNumElements() / 2; lanes >= 1; lanes /= 2) {
      SmallVector<llvm::Value *> low, high;
      for (llvm::Value *value : values) {
        low.push_back(half(ir, value, lanes, false));
        high.push_back(half(ir, value, lanes, true));
      }
      auto combined = combine(*reduction.root, low, high);
      if (failed(combined))
        return failure();
      values = *combined;
    }
  if (!reduction.tail.empty()) {
    auto combined = combine(*reduction.root, values, {reduction.tail.front().value});
    if (failed(combined))
      return failure();
    values = *combined;
  }
  for (auto [result, value] : llvm::zip_equal(reduction.root->op->getResults(), values)) {
    auto found = function.plan.bufferOf.find(result);
    if (found == function.plan.bufferOf.end())
      function.define(result, value);
    else
      storeReduced(result, found->second, value, level);
  }
  return success();
}

/// Writes a result element, or a vector of them, at the index of the kept dimensions.
void NestEmitter::storeReduced(Value result, BufferId buffer, llvm::Value *value, unsigned level) {
  IndexMap map = identityMap(nest.shape.size());
  map.erase(map.begin() + reduceAxis());
  for (auto [dim, extent] : llvm::enumerate(tt::shapeOf(result.getType())))
    if (extent == 1)
      map[dim] = -1;
  insertAt(level);
  ChunkAccess access = bufferAccess(function.buffer(buffer), result.getType(), map);
  insertAt(level);
  Type element = tt::elementOf(result.getType());
  if (isa<llvm::FixedVectorType>(value->getType())) {
    write(access, element, value, nullptr);
    return;
  }
  ir.CreateStore(element.isInteger(1) ? ir.CreateZExt(value, ir.getInt8Ty()) : value, access.address);
}
