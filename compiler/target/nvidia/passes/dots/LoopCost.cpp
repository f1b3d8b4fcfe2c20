// Counts a loop's elements by the unit that computes them.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/passes/dots/LoopCost.h"

#include "compiler/analysis/SpecialFunctions.h"
#include "compiler/target/nvidia/arch/Archs.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using analysis::elementsOf;

/// The multiplications of a dot, as of 16-bit floats.
static uint64_t products(ttng::WarpGroupDotOp dot) {
  const uint64_t depth = dot.getB().getType().getShape()[0];
  const unsigned bits = dot.getB().getType().getElementType().getIntOrFloatBitWidth();
  return elementsOf(dot.getD().getType()) * depth * bits / 16;
}

/// Counts the elements of special functions; of a branch those of the longer side.
static uint64_t specialElements(Block &block) {
  uint64_t count = 0;
  for (Operation &op : block)
    if (auto branch = dyn_cast<scf::IfOp>(op))
      count +=
          std::max(specialElements(*branch.thenBlock()), branch.elseBlock() ? specialElements(*branch.elseBlock()) : 0);
    else if (analysis::usesSpecialFunctions(&op))
      count += elementsOf(op.getResult(0).getType());
  return count;
}

LoopCost nvidia::costOf(scf::ForOp loop) {
  const Arch &arch = *artifact::findNvidiaArch(90); // which alone has wgmma
  LoopCost cost;
  for (auto dot : loop.getBody()->getOps<ttng::WarpGroupDotOp>())
    cost.tensor += products(dot) / arch.tensorProducts;
  cost.special = specialElements(*loop.getBody()) / arch.special;
  return cost;
}
