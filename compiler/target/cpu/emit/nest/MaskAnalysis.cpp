// Derives what the part of a nest implies for masks, and for values under them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/MaskAnalysis.h"

#include "compiler/target/cpu/emit/elements/ElementTable.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Masks.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether the nest's bounds take a prefix into account: only then do its parts determine the prefix's value.
bool MaskAnalysis::isCounted(unsigned dim, const Polynomial &bound) const {
  return llvm::any_of(nest.masks,
                      [&](const NestMask &mask) { return mask.prefix.dim == dim && mask.prefix.bound == bound; });
}

std::optional<bool> MaskAnalysis::impliedValue(Value value, const IndexMap &map, unsigned requester,
                                               unsigned depth) const {
  const Chunk &chunk = context.chunk;
  const unsigned vectorLevel = context.levels.vectorLevel();
  if (!tt::elementOf(value.getType()).isInteger(1) || map.empty())
    return std::nullopt;
  if (const PrefixMask *prefix = context.affineInfo.prefix(value); prefix && map[prefix->dim] >= 0) {
    const int dim = map[prefix->dim];
    if (!isCounted(dim, prefix->bound))
      return std::nullopt;
    if (chunk.isInPrefix && dim == nest.axis())
      return chunk.isInPrefix;
    if (dim != nest.vectorDim)
      return chunk.boundedDims >> dim & 1 ? std::optional(true) : std::nullopt;
    if (chunk.part == NestPart::Masked)
      return std::nullopt;
    return chunk.part == NestPart::Main;
  }
  if (chunk.part != NestPart::Main || requester < vectorLevel || vectorLevel == 0 ||
      llvm::is_contained(map, nest.vectorDim))
    return std::nullopt;
  if (llvm::any_of(nest.conditions,
                   [&](const NestCondition &condition) { return condition.value == value && condition.map == map; }))
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || depth > 8 || !(isShapeChange(op) || isa<arith::AndIOp>(op)))
    return std::nullopt;
  for (auto [index, operand] : llvm::enumerate(op->getOperands())) {
    auto inner = operandMap(value, index, map);
    if (!inner || impliedValue(operand, reduceMap(context.affineInfo, operand, *inner), requester, depth + 1) != true)
      return std::nullopt;
  }
  return true;
}

bool MaskAnalysis::isUniformWhenInactive(Value value, const IndexMap &fullMap, unsigned depth) {
  constexpr unsigned maxDepth = 300;
  const IndexMap map = reduceMap(context.affineInfo, value, fullMap);
  if (!llvm::is_contained(map, nest.vectorDim))
    return true;
  auto [entry, isNew] = uniformWhenInactive.try_emplace({value, keyOf(map)}, false);
  if (!isNew || depth > maxDepth)
    return entry->second;
  const bool isUniform = computeUniformWhenInactive(value, map, depth);
  uniformWhenInactive[{value, keyOf(map)}] = isUniform;
  return isUniform;
}

bool MaskAnalysis::computeUniformWhenInactive(Value value, const IndexMap &map, unsigned depth) {
  if (const PrefixMask *prefix = context.affineInfo.prefix(value); prefix && map[prefix->dim] == nest.vectorDim)
    return isCounted(nest.vectorDim, prefix->bound);
  Operation *op = value.getDefiningOp();
  if (context.buffers.initialOf(value))
    return true;
  if (context.plan.bufferOf.contains(value) && context.buffers.isReady(value))
    return false;
  if (auto load = dyn_cast_or_null<tt::LoadOp>(op)) {
    const bool isOff =
        load.getMask() && llvm::any_of(conjuncts(context.affineInfo, load.getMask(), map), [&](Conjunct &part) {
          return part.prefix && static_cast<int>(part.prefix->dim) == nest.vectorDim &&
                 isCounted(nest.vectorDim, part.prefix->bound);
        });
    return isOff && (!load.getOther() || isUniformWhenInactive(load.getOther(), map, depth + 1));
  }
  if (!isComputable(op) || !elementTraits(op).isRegular || op->getNumOperands() == 0)
    return false;
  for (auto [index, operand] : llvm::enumerate(op->getOperands()))
    if (isa<RankedTensorType>(operand.getType()) &&
        !isUniformWhenInactive(operand, *operandMap(value, index, map), depth + 1))
      return false;
  return true;
}
