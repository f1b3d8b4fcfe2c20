// Emits reductions: independent accumulators in the lanes of a wide vector, a tree at the end.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Combine.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/target/cpu/emit/roots/RootEmitter.h"
#include "compiler/target/cpu/plan/Combiner.h"

#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class ReduceEmitter : public RootEmitter {
public:
  using RootEmitter::RootEmitter;
  void begin() override;
  LogicalResult emit(unsigned level) override;
  bool emitInactive(unsigned level, llvm::Value *count) override;
  LogicalResult finish(unsigned level) override;

private:
  using Values = SmallVector<llvm::Value *>;

  tt::ReduceOp reduce() const { return cast<tt::ReduceOp>(root.op); }
  LogicalResult accumulate(ArrayRef<llvm::Value *> values);
  bool addTail(unsigned level, llvm::Value *count);
  FailureOr<Values> combineLanes(Values values);
  void storeResult(Value result, BufferId buffer, llvm::Value *value, unsigned level);

  SmallVector<llvm::AllocaInst *, 2> accumulators;
  llvm::AllocaInst *isStarted = nullptr; ///< where the combiner's identity is not known
  bool hasTail = false;                  ///< the inactive part has been combined in closed form
  llvm::Value *tail = nullptr;           ///< of the inactive part, where it matters
};
} // namespace

static unsigned axisOfReduce(Operation *op) { return cast<tt::ReduceOp>(op).getAxis(); }

static bool isIdempotentCombiner(Operation *op) {
  return isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxSIOp,
                         arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp>(op);
}

/// Whether the combiner adds floats of 16 or 8 bits, which are held as bits and have no float instruction.
static bool isSmallFloatSum(Operation *combiner) {
  return isa<arith::AddFOp>(combiner) && combiner->getResult(0).getType().getIntOrFloatBitWidth() <= 16;
}

void ReduceEmitter::begin() {
  accumulators.clear();
  tail = nullptr;
  hasTail = false;
  isStarted = nullptr;
  const unsigned count = nest.vectorDim >= 0 ? chunk.lanes : 1;
  llvm::Constant *identity = context.lanes.identityOf(tt::singleCombination(reduce().getCombine().front()));
  for (Value operand : reduce().getSrcs()) {
    llvm::Type *type = context.lanes.typeOf(tt::elementOf(operand.getType()), count);
    accumulators.push_back(context.frame.local(type, "acc"));
    llvm::Value *start = llvm::Constant::getNullValue(type);
    if (identity)
      start = count > 1 ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(count), identity) : identity;
    ir.CreateStore(start, accumulators.back());
  }
  if (!identity) {
    isStarted = context.frame.local(ir.getInt1Ty(), "started");
    ir.CreateStore(ir.getFalse(), isStarted);
  }
}

LogicalResult ReduceEmitter::emit(unsigned level) {
  if (chunk.part == NestPart::Inactive && hasTail)
    return success();
  auto values = evaluateOperands(level);
  return failed(values) ? failure() : accumulate(*values);
}

LogicalResult ReduceEmitter::accumulate(ArrayRef<llvm::Value *> values) {
  Values current; // of the first lanes, where the chunk has fewer than the accumulators
  for (auto [slot, value] : llvm::zip_equal(accumulators, values))
    current.push_back(ir.CreateLoad(value->getType(), slot));
  auto combined = combine(current, values);
  if (failed(combined))
    return failure();
  for (auto [index, slot] : llvm::enumerate(accumulators)) {
    llvm::Value *value = (*combined)[index];
    if (isStarted)
      value = ir.CreateSelect(ir.CreateLoad(ir.getInt1Ty(), isStarted), value, values[index]);
    ir.CreateStore(value, slot);
  }
  if (isStarted)
    ir.CreateStore(ir.getTrue(), isStarted);
  return success();
}

//--- the inactive part ---------------------------------------------------------------------

bool ReduceEmitter::emitInactive(unsigned level, llvm::Value *count) {
  hasTail = static_cast<int>(axisOfReduce(root.op)) == nest.vectorDim && addTail(level, count);
  return hasTail;
}

/// Combines `count` equal elements in closed form, where that is possible.
bool ReduceEmitter::addTail(unsigned level, llvm::Value *count) {
  Operation *combiner = tt::singleCombination(reduce().getCombine().front());
  const bool isSum = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(combiner);
  Value operand = reduce().getSrcs().front();
  if (!combiner || isSmallFloatSum(combiner) || !(isSum || isIdempotentCombiner(combiner)))
    return false;
  const std::optional<Element> element = context.elements.inactiveElement(operand, level);
  if (!element)
    return false;
  if (!*element)
    return true; // the failure has been reported
  levels.insertAt(level);
  llvm::Constant *identity = context.lanes.identityOf(combiner);
  auto *constant = dyn_cast<llvm::Constant>(element->value);
  if (constant && (constant == identity || (isSum && (constant->isNullValue() || constant->isZeroValue()))))
    return true;
  llvm::Value *value = element->value;
  if (isa<arith::AddFOp>(combiner))
    value = ir.CreateFMul(value, ir.CreateSIToFP(count, value->getType()));
  else if (isSum)
    value = ir.CreateMul(value, ir.CreateZExtOrTrunc(count, value->getType()));
  tail = ir.CreateSelect(ir.CreateICmpSGT(count, ir.getInt64(0)), value, identity);
  return true;
}

//--- results -------------------------------------------------------------------------------

/// The lower or the upper half of a vector's lanes; a scalar where one lane is left.
static llvm::Value *half(llvm::IRBuilder<> &ir, llvm::Value *value, unsigned lanes, bool isUpper) {
  if (lanes == 1)
    return ir.CreateExtractElement(value, isUpper ? 1 : 0);
  SmallVector<int> pick;
  for (unsigned lane = 0; lane < lanes; ++lane)
    pick.push_back(lane + (isUpper ? lanes : 0));
  return ir.CreateShuffleVector(value, pick);
}

/// Halves the lanes until one is left; truths are compared at once.
FailureOr<ReduceEmitter::Values> ReduceEmitter::combineLanes(Values values) {
  Operation *combiner = tt::singleCombination(reduce().getCombine().front());
  if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(combiner) && values.front()->getType()->isIntOrIntVectorTy(1) &&
      values.front()->getType()->isVectorTy())
    return Values{isa<arith::AndIOp>(combiner) ? ir.CreateAndReduce(values.front())
                                               : ir.CreateOrReduce(values.front())};
  auto *vector = dyn_cast<llvm::FixedVectorType>(values.front()->getType());
  for (unsigned lanes = vector ? vector->getNumElements() / 2 : 0; lanes >= 1; lanes /= 2) {
    Values low, high;
    for (llvm::Value *value : values) {
      low.push_back(half(ir, value, lanes, false));
      high.push_back(half(ir, value, lanes, true));
    }
    auto combined = combine(low, high);
    if (failed(combined))
      return failure();
    values = *combined;
  }
  return values;
}

LogicalResult ReduceEmitter::finish(unsigned level) {
  context.frame.setLocation(root.op->getLoc());
  levels.insertAt(level);
  Values values;
  for (llvm::AllocaInst *slot : accumulators)
    values.push_back(ir.CreateLoad(slot->getAllocatedType(), slot));
  const int axis = axisOfReduce(root.op);
  const bool isAcrossLanes = axis == nest.vectorDim || nest.vectorDim < 0;
  if (isAcrossLanes && nest.shape[axis] != 1) {
    auto combined = combineLanes(values);
    if (failed(combined))
      return failure();
    values = *combined;
  }
  if (tail) {
    auto combined = combine(values, {tail});
    if (failed(combined))
      return failure();
    values = *combined;
  }
  for (auto [result, value] : llvm::zip_equal(root.op->getResults(), values)) {
    auto found = context.plan.bufferOf.find(result);
    if (found == context.plan.bufferOf.end())
      context.scalars.define(result, value);
    else
      storeResult(result, found->second, value, level);
  }
  return success();
}

/// Writes a result element, or a vector of them, at the index of the kept dimensions.
void ReduceEmitter::storeResult(Value result, BufferId buffer, llvm::Value *value, unsigned level) {
  IndexMap map = context.identity();
  map.erase(map.begin() + axisOfReduce(root.op));
  for (auto [dim, extent] : llvm::enumerate(tt::shapeOf(result.getType())))
    if (extent == 1)
      map[dim] = -1;
  levels.insertAt(level);
  ChunkAccess access = context.addresses.ofBuffer(context.buffers.at(buffer), buffer, result.getType(), map);
  levels.insertAt(level);
  context.memory.write(access, tt::elementOf(result.getType()), value, nullptr);
}

/// Without a neutral element an accumulator's lane starts with the lane's first value: all lanes at once.
static bool needsEqualChunks(Operation *op, int vectorDim) {
  Operation *combiner = tt::singleCombination(cast<tt::ReduceOp>(op).getCombine().front());
  return static_cast<int>(axisOfReduce(op)) == vectorDim && !(combiner && tt::neutralElement(combiner));
}

static bool isIdempotent(Operation *op) {
  return isIdempotentCombiner(tt::singleCombination(cast<tt::ReduceOp>(op).getCombine().front()));
}

static void printReduce(llvm::raw_ostream &out, Operation *op, AccessText) {
  Block &body = cast<tt::ReduceOp>(op).getCombine().front();
  out << "reduce axis " << axisOfReduce(op) << " by " << body.front().getName();
  if (body.getOperations().size() > 2)
    out << " ...";
}

namespace nereid::cpu {
extern const RootTraits reduceRoot = {.matches = isOp<tt::ReduceOp>,
                                      .purpose = "reduced",
                                      .axis = axisOfReduce,
                                      .needsEqualChunks = needsEqualChunks,
                                      .isIdempotent = isIdempotent,
                                      .print = printReduce,
                                      .emitter = makeEmitter<ReduceEmitter>};
} // namespace nereid::cpu
