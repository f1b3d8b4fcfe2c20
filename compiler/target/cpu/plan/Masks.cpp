// Splits a mask into the conditions that must all hold.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Masks.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/target/cpu/plan/Expressions.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The value whose elements a tile has, with their index map.
static Value throughShapes(Value value, IndexMap &map) {
  while (Operation *op = value.getDefiningOp()) {
    const auto inner = isShapeChange(op) ? operandMap(value, 0, map) : std::nullopt;
    if (!inner)
      break;
    map = *inner;
    value = op->getOperand(0);
  }
  return value;
}

static void collect(AffineInfo &affineInfo, Value value, const IndexMap &map, SmallVectorImpl<Conjunct> &parts,
                    unsigned depth) {
  constexpr unsigned maxDepth = 16; // a deeper expression is one opaque factor
  IndexMap inner = map;
  Value source = throughShapes(value, inner);
  auto conjunction = source.getDefiningOp<arith::AndIOp>();
  if (conjunction && parts.size() < maxDepth && depth < maxDepth) {
    collect(affineInfo, conjunction.getLhs(), inner, parts, depth + 1);
    collect(affineInfo, conjunction.getRhs(), inner, parts, depth + 1);
    return;
  }
  Conjunct part{value, reduceMap(affineInfo, value, map), std::nullopt};
  if (const PrefixMask *prefix = affineInfo.prefix(source); prefix && inner[prefix->dim] >= 0)
    part.prefix = {static_cast<unsigned>(inner[prefix->dim]), prefix->bound, prefix->mayWrap};
  parts.push_back(std::move(part));
}

SmallVector<Conjunct, 4> cpu::conjuncts(AffineInfo &affineInfo, Value mask, const IndexMap &map) {
  SmallVector<Conjunct, 4> parts;
  collect(affineInfo, mask, map, parts, 0);
  return parts;
}
