// Walks the element expression that a nest evaluates for a root.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/Expressions.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

IndexMap cpu::reduceMap(TileFacts &facts, Value value, IndexMap map) {
  if (map.empty())
    return map;
  const uint32_t depends = facts.dependence(value);
  for (auto [dim, loop] : llvm::enumerate(map))
    if (!(depends >> dim & 1))
      loop = -1;
  return map;
}

bool cpu::isComputable(Operation *op) {
  if (!op)
    return false;
  if (isa<tt::ReshapeOp>(op))
    return operandMap(op, 0, identityMap(tt::shapeOf(op->getResult(0).getType()).size())).has_value();
  return isElementwise(op) || isShapeChange(op) ||
         isa<tt::LoadOp, tt::SplatOp, tt::MakeRangeOp, arith::ConstantOp, ub::PoisonOp>(op);
}

static uint64_t packMap(const IndexMap &map) {
  uint64_t key = map.size();
  for (int8_t loop : map)
    key = key * 31 + static_cast<uint64_t>(loop + 2);
  return key;
}

void ExpressionWalk::root(const Root &root) {
  if (root.kind == RootKind::Keep) // the kept value's own buffer is not read here
    return operands(root.value, identityMap(tt::shapeOf(root.value.getType()).size()));
  if (root.kind == RootKind::Assign)
    return value(root.value, identityMap(tt::shapeOf(root.value.getType()).size()));
  if (root.kind == RootKind::Store) {
    auto store = cast<tt::StoreOp>(root.op);
    const IndexMap map = identityMap(tt::shapeOf(store.getPtr().getType()).size());
    pointer(store.getPtr(), map);
    value(store.getValue(), map);
    if (store.getMask())
      value(store.getMask(), map);
    return;
  }
  for (Value operand : root.op->getOperands())
    value(operand, identityMap(tt::shapeOf(operand.getType()).size()));
  for (Region &region : root.op->getRegions()) // scalars that a combine region captures
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (!region.isAncestor(operand.getParentRegion()))
          value(operand, {});
    });
}

void ExpressionWalk::value(Value value, const IndexMap &map) {
  IndexMap reduced = reduceMap(facts, value, map);
  if (!seen.insert({value, packMap(reduced)}).second)
    return;
  if (visitor(value, reduced) && !reduced.empty())
    operands(value, reduced);
}

void ExpressionWalk::operands(Value value, const IndexMap &map) {
  Operation *op = value.getDefiningOp();
  if (!isComputable(op))
    return;
  if (const PrefixMask *prefix = facts.prefix(value)) {
    AffineForm bound{{}, prefix->bound, {}};
    return scalars(bound);
  }
  if (auto load = dyn_cast<tt::LoadOp>(op)) {
    pointer(load.getPtr(), map);
    if (load.getMask())
      this->value(load.getMask(), map);
    if (load.getOther())
      this->value(load.getOther(), map);
    return;
  }
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    this->value(operand, *operandMap(op, index, map));
}

void ExpressionWalk::scalars(const AffineForm &form) {
  if (form.pointer)
    value(form.pointer, {});
  auto leaves = [&](const Poly &poly) {
    for (const Poly::Term &term : poly.terms())
      for (Leaf leaf : term.factors)
        value(facts.valueOf(leaf), {});
  };
  leaves(form.base);
  for (const Poly &stride : form.strides)
    leaves(stride);
}

void ExpressionWalk::pointer(Value pointer, const IndexMap &map) {
  if (const AffineForm *form = facts.affine(pointer))
    return scalars(AffineForm(*form));
  value(pointer, map);
}
