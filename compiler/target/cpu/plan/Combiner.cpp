// Inspects the regions of reduce, scan and map_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Combiner.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

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

bool cpu::needsScalars(Operation *op) {
  return op->getNumRegions() != 0 && llvm::any_of(op->getRegion(0).front(), [](Operation &inner) {
           return inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner);
         });
}
