// Emits scans: a prefix in the lanes of a register, or independent lanes along another dimension.
// SPDX-License-Identifier: MIT
//
// Where the axis is the vector dimension, each chunk is scanned in log2(lanes) steps that combine lanes at growing
// distances, and then combined with the last element of the previous chunk. Elsewhere the axis is the innermost loop
// and the carry is a vector. A reverse scan walks the axis downwards.
#include "compiler/dialect/tt/Combine.h"
#include "compiler/target/cpu/emit/roots/RootEmitter.h"
#include "compiler/target/cpu/plan/Combiner.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class ScanEmitter : public RootEmitter {
public:
  using RootEmitter::RootEmitter;
  void begin() override;
  LogicalResult emit(unsigned level) override;

private:
  using Values = SmallVector<llvm::Value *>;

  tt::ScanOp scan() const { return cast<tt::ScanOp>(root.op); }
  FailureOr<Values> scanChunk(Values values);
  llvm::Value *splat(llvm::Value *scalar, unsigned lanes) {
    return lanes > 1 ? ir.CreateVectorSplat(lanes, scalar) : scalar;
  }

  SmallVector<llvm::AllocaInst *, 2> carry;
  llvm::Constant *identity = nullptr;    ///< null where none is known
  llvm::AllocaInst *isStarted = nullptr; ///< where `identity` is null
};
} // namespace

void ScanEmitter::begin() {
  const unsigned lanes = nest.scansLanes() || nest.vectorDim < 0 ? 1 : chunk.lanes;
  carry.clear();
  isStarted = nullptr;
  identity = context.lanes.identityOf(tt::singleCombination(root.op->getRegion(0).front()));
  for (Value operand : root.op->getOperands()) {
    llvm::Type *type = context.lanes.typeOf(tt::elementOf(operand.getType()), lanes);
    carry.push_back(context.frame.local(type, "carry"));
    llvm::Value *start = identity ? splat(identity, lanes) : llvm::Constant::getNullValue(type);
    ir.CreateStore(start, carry.back());
  }
  if (!identity) {
    isStarted = context.frame.local(ir.getInt1Ty(), "started");
    ir.CreateStore(ir.getFalse(), isStarted);
  }
}

/// Combines every lane with all lanes before it.
FailureOr<ScanEmitter::Values> ScanEmitter::scanChunk(Values values) {
  const int lanes = chunk.lanes;
  const bool isReverse = scan().getReverse();
  for (int distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int> order;
    SmallVector<llvm::Constant *> hasBefore;
    for (int lane = 0; lane < lanes; ++lane) {
      const int before = isReverse ? lane + distance : lane - distance;
      const bool isInside = before >= 0 && before < lanes;
      order.push_back(isInside ? before : identity ? lanes : lane);
      hasBefore.push_back(ir.getInt1(isInside));
    }
    Values earlier;
    for (llvm::Value *value : values) {
      llvm::Value *outside = identity ? splat(identity, lanes) : value;
      earlier.push_back(ir.CreateShuffleVector(value, outside, order));
    }
    auto combined = combine(earlier, values);
    if (failed(combined))
      return failure();
    for (auto [value, both] : llvm::zip_equal(values, *combined))
      value = identity ? both : ir.CreateSelect(llvm::ConstantVector::get(hasBefore), both, value);
  }
  return values;
}

LogicalResult ScanEmitter::emit(unsigned level) {
  const bool isAcrossLanes = nest.scansLanes() && chunk.lanes > 1;
  auto operands = evaluateOperands(level);
  if (failed(operands))
    return failure();
  Values values = std::move(*operands);
  if (isAcrossLanes) {
    auto scanned = scanChunk(values);
    if (failed(scanned))
      return failure();
    values = *scanned;
  }
  Values before;
  for (llvm::AllocaInst *slot : carry) {
    llvm::Value *carried = ir.CreateLoad(slot->getAllocatedType(), slot);
    before.push_back(isAcrossLanes ? splat(carried, chunk.lanes) : carried);
  }
  auto combined = combine(before, values);
  if (failed(combined))
    return failure();
  for (auto [index, slot] : llvm::enumerate(carry)) {
    llvm::Value *result = (*combined)[index];
    if (isStarted)
      result = ir.CreateSelect(ir.CreateLoad(ir.getInt1Ty(), isStarted), result, values[index]);
    const unsigned last = scan().getReverse() ? 0 : chunk.lanes - 1;
    ir.CreateStore(isAcrossLanes ? ir.CreateExtractElement(result, last) : result, slot);
    writeResult(index, {result, chunk.lanes > 1}, level);
  }
  levels.insertAt(level);
  if (isStarted)
    ir.CreateStore(ir.getTrue(), isStarted);
  return success();
}

static unsigned axisOfScan(Operation *op) { return cast<tt::ScanOp>(op).getAxis(); }

static bool isReverseScan(Operation *op) { return cast<tt::ScanOp>(op).getReverse(); }

static void printScan(llvm::raw_ostream &out, Operation *op, AccessText) {
  out << "scan axis " << axisOfScan(op) << (isReverseScan(op) ? " downwards" : "");
}

namespace nereid::cpu {
extern const RootTraits scanRoot = {
    .matches = isOp<tt::ScanOp>,
    .purpose = "scanned",
    .isAlone = true,
    .isOrdered = true,
    .axis = axisOfScan,
    .isReverse = isReverseScan,
    // A scan of one register's lanes takes fewer steps than one of several registers.
    .isLaneByLane = [](Operation *op, int vectorDim) { return static_cast<int>(axisOfScan(op)) == vectorDim; },
    .needsEqualChunks = [](Operation *op, int vectorDim) { return static_cast<int>(axisOfScan(op)) == vectorDim; },
    .print = printScan,
    .emitter = makeEmitter<ScanEmitter>};
} // namespace nereid::cpu
