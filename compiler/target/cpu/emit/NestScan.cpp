// Emits scans inside a nest: a prefix in the lanes of a register, or independent lanes along another dimension.
// SPDX-License-Identifier: MIT
//
// Where the axis is the vector dimension, each chunk is scanned in log2(lanes) steps that combine lanes at growing
// distances, and then combined with the last element of the previous chunk. Elsewhere the axis is the innermost loop
// and the carry is a vector. A reverse scan walks the axis downwards.
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/plan/Combiner.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static llvm::Value *splatOf(llvm::IRBuilder<> &ir, llvm::Value *scalar, unsigned lanes) {
  return lanes > 1 ? ir.CreateVectorSplat(lanes, scalar) : scalar;
}

bool NestEmitter::scansLanes() const { return !scans.empty() && reduceAxis() == nest.vectorDim; }

bool NestEmitter::walksDownwards(unsigned level) const {
  return !scans.empty() && level > 0 && static_cast<int>(nest.order[level - 1]) == reduceAxis() &&
         cast<tt::ScanOp>(scans.front().root->op).getReverse();
}

void NestEmitter::beginScans() {
  const unsigned lanes = scansLanes() || nest.vectorDim < 0 ? 1 : nest.lanes;
  for (Scan &scan : scans) {
    scan.carry.clear();
    scan.isStarted = nullptr;
    scan.identity = function.lanes.identityOf(singleCombiner(scan.root->op));
    for (Value operand : scan.root->op->getOperands()) {
      llvm::Type *type = function.lanes.typeOf(tt::elementOf(operand.getType()), lanes);
      scan.carry.push_back(function.local(type, "carry"));
      llvm::Value *start = scan.identity ? splatOf(ir, scan.identity, lanes) : llvm::Constant::getNullValue(type);
      ir.CreateStore(start, scan.carry.back());
    }
    if (!scan.identity) {
      scan.isStarted = function.local(ir.getInt1Ty(), "started");
      ir.CreateStore(ir.getFalse(), scan.isStarted);
    }
  }
}

/// Combines every lane with all lanes before it.
FailureOr<SmallVector<llvm::Value *>> NestEmitter::scanChunk(Scan &scan, SmallVector<llvm::Value *> values) {
  const int lanes = nest.lanes;
  const bool isReverse = cast<tt::ScanOp>(scan.root->op).getReverse();
  for (int distance = 1; distance < lanes; distance *= 2) {
    SmallVector<int> order;
    SmallVector<llvm::Constant *> hasBefore;
    for (int lane = 0; lane < lanes; ++lane) {
      const int before = isReverse ? lane + distance : lane - distance;
      const bool isInside = before >= 0 && before < lanes;
      order.push_back(isInside ? before : scan.identity ? lanes : lane);
      hasBefore.push_back(ir.getInt1(isInside));
    }
    SmallVector<llvm::Value *> earlier;
    for (llvm::Value *value : values) {
      llvm::Value *outside = scan.identity ? splatOf(ir, scan.identity, lanes) : value;
      earlier.push_back(ir.CreateShuffleVector(value, outside, order));
    }
    auto combined = combine(*scan.root, earlier, values);
    if (failed(combined))
      return failure();
    for (auto [value, both] : llvm::zip_equal(values, *combined))
      value = scan.identity ? both : ir.CreateSelect(llvm::ConstantVector::get(hasBefore), both, value);
  }
  return values;
}

LogicalResult NestEmitter::emitScan(Scan &scan, unsigned level) {
  Operation *op = scan.root->op;
  const bool isAcrossLanes = scansLanes() && nest.lanes > 1;
  auto operands = vectorsOf(op, level);
  if (failed(operands))
    return failure();
  SmallVector<llvm::Value *> values = std::move(*operands);
  if (isAcrossLanes) {
    auto scanned = scanChunk(scan, values);
    if (failed(scanned))
      return failure();
    values = *scanned;
  }
  SmallVector<llvm::Value *> before;
  for (llvm::AllocaInst *slot : scan.carry) {
    llvm::Value *carried = ir.CreateLoad(slot->getAllocatedType(), slot);
    before.push_back(isAcrossLanes ? splatOf(ir, carried, nest.lanes) : carried);
  }
  auto combined = combine(*scan.root, before, values);
  if (failed(combined))
    return failure();
  for (auto [index, slot] : llvm::enumerate(scan.carry)) {
    llvm::Value *result = (*combined)[index];
    if (scan.isStarted)
      result = ir.CreateSelect(ir.CreateLoad(ir.getInt1Ty(), scan.isStarted), result, values[index]);
    const unsigned last = cast<tt::ScanOp>(op).getReverse() ? 0 : nest.lanes - 1;
    ir.CreateStore(isAcrossLanes ? ir.CreateExtractElement(result, last) : result, slot);
    writeElement({result, nest.lanes > 1}, op->getResult(index), scan.root->buffers[index], level);
  }
  insertAt(level);
  if (scan.isStarted)
    ir.CreateStore(ir.getTrue(), scan.isStarted);
  return success();
}
