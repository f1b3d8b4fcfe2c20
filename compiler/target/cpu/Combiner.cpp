// Inspects the regions of reduce, scan and map_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Combiner.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/target/cpu/LaneEmitter.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/IR/Constants.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

Operation *cpu::singleCombiner(Operation *combining) {
  Block &body = combining->getRegion(0).front();
  if (combining->getNumOperands() != 1 || body.getOperations().size() != 2)
    return nullptr;
  Operation *op = &body.front();
  Operation *end = body.getTerminator();
  if (op->getNumOperands() != 2)
    return nullptr;
  Value left = body.getArgument(0), right = body.getArgument(1), first = op->getOperand(0), second = op->getOperand(1);
  const bool usesBoth = (first == left && second == right) || (first == right && second == left);
  return usesBoth && end->getOperand(0) == op->getResult(0) ? op : nullptr;
}

llvm::Constant *cpu::identityOf(LaneEmitter &lanes, Operation *op) {
  if (!op)
    return nullptr;
  const TypedAttr neutral = tt::neutralElement(op);
  return neutral ? lanes.constant(neutral, neutral.getType(), 1) : nullptr;
}

bool cpu::needsScalars(Operation *op) {
  return op->getNumRegions() != 0 && llvm::any_of(op->getRegion(0).front(), [](Operation &inner) {
           return inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner);
         });
}
