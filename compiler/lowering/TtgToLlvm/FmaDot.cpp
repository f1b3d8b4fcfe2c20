// Emits dots as multiply-adds along k; reads operands from shared memory at their first use.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/lowering/TtgToLlvm/SharedAccess.h"

#include "compiler/analysis/SharedMemory.h"
#include "compiler/layout/SharedAccessPlan.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

/// Multiplications of a thread that are unrolled; more of them become a loop.
static constexpr int64_t kMultiplicationsPerIteration = 1024;

bool lowering::isReadByFmaDot(ttg::LocalLoadOp load) {
  auto dot = load->hasOneUse() ? dyn_cast<tt::DotOp>(*load->user_begin()) : tt::DotOp();
  if (!dot || dot->getBlock() != load->getBlock() || dot.getC() == load.getResult())
    return false;
  if (ttg::isMatrixInstruction(ttg::encodingOf(dot.getType())))
    return false;
  // No op in between may reuse the buffer's memory.
  for (Operation *op = load->getNextNode(); op != dot; op = op->getNextNode())
    if (!isa<ttg::LocalLoadOp>(op) &&
        (op->getNumRegions() > 0 || !isMemoryEffectFree(op) || analysis::scratchBytes(op) > 0))
      return false;
  return true;
}

namespace {

/// One operand: in registers, or in a buffer from which its registers are filled at their first use.
class FmaDotOperand {
public:
  FmaDotOperand(TtgFunctionEmitter &emitter, Value tile, Type sum, unsigned alongK);

  bool isInBuffer() const { return reader.has_value(); }
  int64_t depth() const { return map.extent(alongK); }
  /// The least number of steps along k such that no shared access spans two groups of them.
  int64_t depthOfAccess() const { return leastDepth; }
  /// Moves to `iteration` of the loop, which has `steps` steps along k.
  void begin(llvm::Value *iteration, int64_t steps);
  llvm::Value *at(layout::LinearLayout::Coordinates coordinates, int64_t k);

private:
  TtgFunctionEmitter &emitter;
  RankedTensorType type;
  Type sum;
  unsigned alongK;
  RegisterMap map;
  Tile registers, widened;
  layout::SharedAccessPattern pattern;
  std::optional<SharedReader> reader;
  llvm::DenseMap<unsigned, const layout::SharedAccess *> accessOf; ///< by register
  int64_t leastDepth = 1;
};

class FmaDotEmitter {
public:
  FmaDotEmitter(TtgFunctionEmitter &emitter, tt::DotOp op, Type sum)
      : emitter(emitter), ir(emitter.ir), result(cast<RankedTensorType>(op.getType())),
        left(emitter, op.getA(), sum, result.coordinates(0).size() - 1),
        right(emitter, op.getB(), sum, result.coordinates(0).size() - 2) {}

  void run(Tile &accumulators);

private:
  int64_t stepsPerIteration() const;
  void multiply(int64_t steps, Tile &accumulators);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  RegisterMap result;
  FmaDotOperand left, right;
};

} // namespace

FmaDotOperand::FmaDotOperand(TtgFunctionEmitter &emitter, Value tile, Type sum, unsigned alongK)
    : emitter(emitter), type(cast<RankedTensorType>(tile.getType())), sum(sum), alongK(alongK), map(type) {
  auto load = tile.getDefiningOp<ttg::LocalLoadOp>();
  widened.assign(map.size(), nullptr);
  if (!load || !isReadByFmaDot(load)) {
    registers = emitter.tile(tile);
    return;
  }
  registers.assign(map.size(), nullptr);
  pattern = accessPatternOf(type, load.getSrc().getType());
  reader.emplace(emitter, emitter.scalar(load.getSrc()), pattern, type.getElementType());
  for (const layout::SharedAccess &access : pattern.accesses)
    for (unsigned index : access.registers) {
      accessOf[index] = &access;
      leastDepth = std::max<int64_t>(leastDepth, map.coordinates(index)[alongK] -
                                                     map.coordinates(access.registers.front())[alongK] + 1);
    }
  leastDepth = llvm::PowerOf2Ceil(leastDepth);
}

void FmaDotOperand::begin(llvm::Value *iteration, int64_t steps) {
  IrBuilder &ir = emitter.ir;
  registers.assign(registers.size(), nullptr);
  widened.assign(widened.size(), nullptr);
  llvm::Value *bits = ir.getInt32(0);
  uint32_t mask = 0;
  for (int64_t bit = 0, k = steps; k < depth(); ++bit, k *= 2) {
    LinearLayout::Coordinates coordinates(type.getRank(), 0);
    coordinates[alongK] = k;
    const uint32_t basis = accessOf.lookup(map.at(coordinates))->offset;
    llvm::Value *isSet = ir.CreateAnd(ir.CreateLShr(iteration, bit), 1);
    bits = ir.CreateXor(bits, ir.CreateMul(isSet, ir.getInt32(basis)));
    mask |= basis;
  }
  reader->move(bits, mask);
}

llvm::Value *FmaDotOperand::at(LinearLayout::Coordinates coordinates, int64_t k) {
  coordinates[alongK] = k;
  const unsigned index = map.at(coordinates);
  if (!widened[index]) {
    if (!registers[index])
      reader->read(*accessOf.lookup(index), registers);
    widened[index] = emitter.elements.convert(registers[index], type.getElementType(), sum);
  }
  return widened[index];
}

/// The steps per loop iteration; all of them where no loop is needed.
int64_t FmaDotEmitter::stepsPerIteration() const {
  int64_t steps = left.depth();
  if (!left.isInBuffer() || !right.isInBuffer())
    return steps;
  const int64_t least = std::max(left.depthOfAccess(), right.depthOfAccess());
  while (steps > least && steps * result.size() > kMultiplicationsPerIteration)
    steps /= 2;
  return steps;
}

/// Goes step by step along k, so that an element's last use comes soon after its first.
void FmaDotEmitter::multiply(int64_t steps, Tile &accumulators) {
  for (int64_t k = 0; k < steps; ++k)
    for (auto [index, sum] : llvm::enumerate(accumulators)) {
      llvm::Value *x = left.at(result.coordinates(index), k), *y = right.at(result.coordinates(index), k);
      if (sum->getType()->isFloatingPointTy())
        sum = ir.CreateIntrinsic(llvm::Intrinsic::fma, {sum->getType()}, {x, y, sum});
      else
        sum = ir.CreateAdd(ir.CreateMul(x, y), sum);
    }
}

void FmaDotEmitter::run(Tile &accumulators) {
  const int64_t steps = stepsPerIteration();
  if (steps == left.depth())
    return multiply(steps, accumulators);
  llvm::BasicBlock *before = ir.GetInsertBlock(), *body = emitter.newBlock("dot"), *after = emitter.newBlock("dot.end");
  ir.CreateBr(body);
  ir.SetInsertPoint(body);
  llvm::PHINode *iteration = ir.CreatePHI(ir.getInt32Ty(), 2);
  iteration->addIncoming(ir.getInt32(0), before);
  SmallVector<llvm::PHINode *> carried;
  for (llvm::Value *&sum : accumulators) {
    carried.push_back(ir.CreatePHI(sum->getType(), 2));
    carried.back()->addIncoming(sum, before);
    sum = carried.back();
  }
  left.begin(iteration, steps);
  right.begin(iteration, steps);
  multiply(steps, accumulators);
  for (auto [phi, sum] : llvm::zip_equal(carried, accumulators))
    phi->addIncoming(sum, body);
  llvm::Value *next = ir.CreateAdd(iteration, ir.getInt32(1));
  iteration->addIncoming(next, body);
  ir.CreateCondBr(ir.CreateICmpULT(next, ir.getInt32(left.depth() / steps)), body, after);
  ir.SetInsertPoint(after);
}

static Type accumulatorType(tt::DotOp op) {
  Type element = tt::elementOf(op.getType());
  if (isa<IntegerType>(element) || element.isF64())
    return element;
  return Float32Type::get(op.getContext());
}

void lowering::accumulateDot(TtgFunctionEmitter &emitter, tt::DotOp op,
                             llvm::function_ref<void(Type, Tile &)> accumulate) {
  Type element = tt::elementOf(op.getType()), wide = accumulatorType(op);
  Tile accumulators;
  for (llvm::Value *value : emitter.tile(op.getC()))
    accumulators.push_back(emitter.elements.convert(value, element, wide));
  accumulate(wide, accumulators);
  for (llvm::Value *&value : accumulators)
    value = emitter.elements.convert(value, wide, element);
  emitter.define(op, std::move(accumulators));
}

LogicalResult lowering::emitFmaDot(TtgFunctionEmitter &emitter, tt::DotOp op) {
  accumulateDot(emitter, op,
                [&](Type wide, Tile &accumulators) { FmaDotEmitter(emitter, op, wide).run(accumulators); });
  return success();
}

void lowering::addDotEmitters(OpEmitters &table) { table.add<emitFmaDot, tt::DotOp>(); }
