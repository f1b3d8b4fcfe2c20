// Walks the element expression that a nest evaluates for a root.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Expressions.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

IndexMap cpu::reduceMap(AffineInfo &affineInfo, Value value, IndexMap map) {
  if (map.empty())
    return map;
  const uint32_t depends = affineInfo.dependence(value);
  for (auto [dim, loop] : llvm::enumerate(map))
    if (!(depends >> dim & 1))
      loop = -1;
  return map;
}

bool cpu::isComputable(Operation *op) {
  if (!op)
    return false;
  if (!isa<tt::ElementMapOpInterface>(op))
    return isElementwise(op) || isa<tt::LoadOp, tt::MakeRangeOp, arith::ConstantOp, ub::PoisonOp>(op);
  const Type type = op->getResult(0).getType();
  const IndexMap map = identityMap(tt::shapeOf(type).size());
  return isa<RankedTensorType>(type) && llvm::all_of(llvm::seq(op->getNumOperands()), [&](unsigned operand) {
           return operandMap(op, operand, map).has_value();
         });
}

bool cpu::isMathFunction(Operation *op) {
  return isa_and_nonnull<mlir::math::MathDialect>(op->getDialect()) &&
         !isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::FmaOp, mlir::math::FloorOp, mlir::math::CeilOp,
              mlir::math::TruncOp, mlir::math::RoundOp, mlir::math::RoundEvenOp, mlir::math::CopySignOp,
              mlir::math::SqrtOp>(op);
}

bool cpu::isSlowFunction(Operation *op) {
  return isa<arith::RemFOp, tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp>(op) || isMathFunction(op);
}

void ExpressionWalk::root(const Root &root) {
  const size_t first = waiting.size();
  if (root.kind == RootKind::Materialise) { // the kept value's own buffer is not read here
    pushOperands(root.value, identityMap(tt::shapeOf(root.value.getType()).size()));
  } else if (root.kind == RootKind::Assign) {
    push(root.value, identityMap(tt::shapeOf(root.value.getType()).size()));
  } else if (root.isWrite()) {
    Value pointer = root.op->getOperand(0);
    const IndexMap map = identityMap(tt::shapeOf(pointer.getType()).size());
    pushPointer(pointer, map);
    for (Value operand : llvm::drop_begin(root.op->getOperands()))
      push(operand, map);
  } else {
    for (Value operand : root.op->getOperands())
      push(operand, identityMap(tt::shapeOf(operand.getType()).size()));
    for (Region &region : root.op->getRegions()) // scalars that a combine region captures
      region.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (!region.isAncestor(operand.getParentRegion()))
            push(operand, {});
      });
  }
  std::reverse(waiting.begin() + first, waiting.end());
  drain();
}

void ExpressionWalk::push(Value value, const IndexMap &map) { waiting.emplace_back(value, map); }

void ExpressionWalk::drain() {
  while (!waiting.empty()) {
    auto [value, map] = std::move(waiting.back());
    waiting.pop_back();
    IndexMap reduced = reduceMap(affineInfo, value, map);
    if (!seen.insert({value, keyOf(reduced)}).second || !visitor(value, reduced) || reduced.empty())
      continue;
    const size_t first = waiting.size();
    pushOperands(value, reduced);
    std::reverse(waiting.begin() + first, waiting.end()); // the first operand is visited first
  }
}

void ExpressionWalk::pushOperands(Value value, const IndexMap &map) {
  Operation *op = value.getDefiningOp();
  if (!isComputable(op))
    return;
  if (const PrefixMask *prefix = affineInfo.prefix(value); prefix && !prefix->mayWrap) {
    return pushScalars(Polynomial(prefix->bound));
  }
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    pushPointer(load.getPtr(), map);
    if (load.getMask())
      push(load.getMask(), map);
    if (load.getOther())
      push(load.getOther(), map);
    return;
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (!isa<tt::JoinOp>(op) || map.back() >= 0 || indexOfFixed(map.back()) == index)
      push(operand, *operandMap(value, index, map));
}

void ExpressionWalk::pushScalars(const Polynomial &poly) {
  for (const Polynomial::Term &term : poly.terms())
    for (unsigned variable : term.factors) {
      if (const Remainder *remainder = affineInfo.remainderOf(variable)) {
        pushScalars(remainder->dividend);
        pushScalars(remainder->divisor);
      } else {
        push(affineInfo.valueOf(variable), {});
      }
    }
}

void ExpressionWalk::pushScalars(const AffineForm &form) {
  if (form.base)
    push(form.base, {});
  pushScalars(form.start);
  for (const Polynomial &stride : form.steps)
    pushScalars(stride);
}

void ExpressionWalk::pushPointer(Value pointer, const IndexMap &map) {
  if (const AffineForm *form = takesAssumptions ? affineInfo.assumed(pointer) : affineInfo.affine(pointer))
    return pushScalars(AffineForm(*form));
  push(pointer, map);
}
