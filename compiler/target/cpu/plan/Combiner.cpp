// Inspects the regions of reduce, scan and map_elementwise.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Combiner.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

bool cpu::needsScalars(Operation *op) {
  return op->getNumRegions() != 0 && llvm::any_of(op->getRegion(0).front(), [](Operation &inner) {
           return inner.getNumRegions() != 0 || !isMemoryEffectFree(&inner);
         });
}
