// Splits a mask into the conditions that must all hold.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Masks.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/plan/Expressions.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Follows `value` through shape changes to a prefix comparison.
static std::optional<PrefixMask> prefixThroughShapes(AffineInfo &affineInfo, Value value, IndexMap map) {
  while (true) {
    if (const PrefixMask *prefix = affineInfo.prefix(value)) {
      if (map[prefix->dim] < 0)
        return std::nullopt;
      return PrefixMask{static_cast<unsigned>(map[prefix->dim]), prefix->bound, prefix->mayWrap};
    }
    Operation *op = value.getDefiningOp();
    if (!op || !isShapeChange(op))
      return std::nullopt;
    auto inner = operandMap(value, 0, map);
    if (!inner)
      return std::nullopt;
    map = *inner;
    value = op->getOperand(0);
  }
}

/// An `and`, possibly through shape changes, whose operands can be analysed separately.
static arith::AndIOp andThroughShapes(Value value, IndexMap &map) {
  IndexMap inner = map;
  while (Operation *op = value.getDefiningOp()) {
    if (auto conjunction = dyn_cast<arith::AndIOp>(op)) {
      map = inner;
      return conjunction;
    }
    if (!isShapeChange(op))
      return {};
    auto next = operandMap(value, 0, inner);
    if (!next)
      return {};
    inner = *next;
    value = op->getOperand(0);
  }
  return {};
}

static void collect(AffineInfo &affineInfo, Value value, IndexMap map, SmallVectorImpl<Conjunct> &parts,
                    unsigned depth) {
  constexpr unsigned maxDepth = 16; // a deeper expression is one opaque factor
  IndexMap inner = map;
  if (auto conjunction = andThroughShapes(value, inner); conjunction && parts.size() < maxDepth && depth < maxDepth) {
    collect(affineInfo, conjunction.getLhs(), inner, parts, depth + 1);
    collect(affineInfo, conjunction.getRhs(), inner, parts, depth + 1);
    return;
  }
  parts.push_back({value, reduceMap(affineInfo, value, map), prefixThroughShapes(affineInfo, value, map)});
}

SmallVector<Conjunct, 4> cpu::conjuncts(AffineInfo &affineInfo, Value mask, const IndexMap &map) {
  SmallVector<Conjunct, 4> parts;
  collect(affineInfo, mask, map, parts, 0);
  return parts;
}
