// Emits dots as multiply-adds along k; reads operands from shared memory at their first use.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/lowering/TtgToLlvm/DotOperand.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

/// Multiplications of a thread that are unrolled; more of them become a loop.
static constexpr int64_t kMultiplicationsPerIteration = 1024;

namespace {

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
  DotOperand left, right;
};

} // namespace

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

static Type accumulatorType(tt::DotOpInterface op) {
  Type element = tt::elementOf(op.getD().getType());
  if (isa<IntegerType>(element) || element.isF64())
    return element;
  return Float32Type::get(op->getContext());
}

void lowering::accumulateDot(TtgFunctionEmitter &emitter, tt::DotOpInterface op,
                             llvm::function_ref<void(Type, Tile &)> accumulate) {
  Type element = tt::elementOf(op.getD().getType()), wide = accumulatorType(op);
  Tile accumulators;
  for (llvm::Value *value : emitter.tile(op.getC()))
    accumulators.push_back(emitter.elements.convert(value, element, wide));
  accumulate(wide, accumulators);
  for (llvm::Value *&value : accumulators)
    value = emitter.elements.convert(value, wide, element);
  emitter.define(op.getD(), std::move(accumulators));
}

LogicalResult lowering::emitFmaDot(TtgFunctionEmitter &emitter, tt::DotOp op) {
  accumulateDot(emitter, op,
                [&](Type wide, Tile &accumulators) { FmaDotEmitter(emitter, op, wide).run(accumulators); });
  return success();
}

void lowering::addDotEmitters(OpEmitters &table) { table.add<emitFmaDot, tt::DotOp>(); }
