// Implements the search for loads that a dot executes.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/DotReads.h"

#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/ttg/TargetInterface.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace nereid;

static tt::DotOpInterface dotOf(Operation *op) {
  return isa_and_nonnull<tt::DotOp, tt::DotScaledOp>(op) ? cast<tt::DotOpInterface>(op) : tt::DotOpInterface();
}

/// Whether the dot has a matrix instruction, whose operands are in registers before it.
static bool takesRegisters(tt::DotOpInterface dot) {
  if (!ttg::isMatrixInstruction(ttg::encodingOf(dot.getD().getType())))
    return false;
  const ttg::TargetInterface *target = ttg::targetInterfaceOf(dot);
  return !target || !target->readsOperandsInDots();
}

bool analysis::isReadByDot(ttg::LocalLoadOp load) {
  tt::DotOpInterface dot = dotOf(load->hasOneUse() ? *load->user_begin() : nullptr);
  if (!dot || dot->getBlock() != load->getBlock() || takesRegisters(dot) ||
      !llvm::is_contained({dot.getA(), dot.getB()}, load.getResult()))
    return false;
  // No op in between may reuse the buffer's memory.
  for (Operation *op = load->getNextNode(); op != dot; op = op->getNextNode())
    if (!isa<ttg::LocalLoadOp>(op) && (op->getNumRegions() > 0 || !isMemoryEffectFree(op) || scratchBytes(op) > 0))
      return false;
  return true;
}

SmallVector<Value, 2> analysis::buffersReadByDot(Operation &op) {
  SmallVector<Value, 2> buffers;
  if (tt::DotOpInterface dot = dotOf(&op))
    for (Value operand : {dot.getA(), dot.getB()})
      if (auto load = operand.getDefiningOp<ttg::LocalLoadOp>(); load && isReadByDot(load))
        buffers.push_back(load.getSrc());
  return buffers;
}
