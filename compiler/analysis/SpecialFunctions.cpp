// Lists the ops of exponentials, logarithms, roots and quotients.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SpecialFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace nereid;

uint64_t analysis::elementsOf(Type type) {
  auto tile = dyn_cast<RankedTensorType>(type);
  return tile ? tile.getNumElements() : 0;
}

bool analysis::usesSpecialFunctions(Operation *op) {
  return isa<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::SqrtOp, math::RsqrtOp, math::SinOp,
             math::CosOp, math::TanhOp, arith::DivFOp>(op);
}
