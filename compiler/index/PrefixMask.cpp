// Finds masks that hold for the first elements of a dimension, and the dimensions that a tile's elements depend on.
// SPDX-License-Identifier: MIT
#include "compiler/index/AffineForm.h"
#include "compiler/index/Wrap.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::index;

//--- prefixes ------------------------------------------------------------------------------

const PrefixMask *AffineInfo::prefix(Value mask) {
  auto [found, isNew] = masks.try_emplace(mask);
  if (isNew)
    if (std::optional<PrefixMask> result = analyseMask(mask))
      found->second = std::make_unique<PrefixMask>(std::move(*result));
  const PrefixMask *result = found->second.get();
  return result && !(isExact && result->mayWrap) ? result : nullptr;
}

std::optional<PrefixMask> AffineInfo::analyseMask(Value mask) {
  using Predicate = arith::CmpIPredicate;
  auto compare = mask.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isa<RankedTensorType>(mask.getType()) ||
      isa<tt::PointerType>(tt::elementOf(compare.getLhs().getType())))
    return std::nullopt;
  Value small = compare.getLhs(), large = compare.getRhs();
  const Predicate predicate = compare.getPredicate();
  if (predicate == Predicate::sgt || predicate == Predicate::sge)
    std::swap(small, large);
  else if (predicate != Predicate::slt && predicate != Predicate::sle)
    return std::nullopt;
  const AffineForm *lower = affine(small), *upper = lower ? affine(large) : nullptr;
  if (!upper)
    return std::nullopt;
  const bool isInclusive = predicate == Predicate::sle || predicate == Predicate::sge;
  const std::optional<AffineForm> distance = sum(*lower, *upper, -1);
  const std::optional<unsigned> dim = distance ? dimOfOneStep(*distance) : std::nullopt;
  if (!dim)
    return std::nullopt;
  auto bound = Polynomial::ofConstant(isInclusive).plus(distance->start, -1);
  if (!bound)
    return std::nullopt;
  return PrefixMask{*dim, std::move(*bound), !sumsThatMayWrap(small).empty() || !sumsThatMayWrap(large).empty()};
}

//--- dependence ----------------------------------------------------------------------------

uint32_t AffineInfo::dependence(Value value) {
  if (auto found = dependences.find(value); found != dependences.end())
    return found->second;
  uint32_t bits = analyseDependence(value);
  for (auto [dim, extent] : llvm::enumerate(tt::shapeOf(value.getType())))
    if (extent == 1)
      bits &= ~(1u << dim);
  return dependences[value] = bits;
}

/// The index of an operand's element, where the op has the same effect for any order of elements; else nothing.
static std::optional<tt::ElementMap> independentMap(Operation *op, unsigned operand, unsigned result) {
  if (isa<tt::ElementMapOpInterface>(op) && op->getNumOperands() > 1)
    return std::nullopt;
  if (isa<tt::ExternElementwiseOp, tt::ElementwiseInlineAsmOp>(op) && !isMemoryEffectFree(op))
    return std::nullopt;
  if (isa<tt::MemoryAccessOpInterface>(op) && !isa<tt::LoadOp>(op))
    return std::nullopt;
  return isa<arith::SelectOp, tt::AddPtrOp>(op) ? tt::identityMap(tt::shapeOf(op->getOperand(operand).getType()).size())
                                                : tt::elementMapOf(op, operand, result);
}

uint32_t AffineInfo::analyseDependence(Value value) {
  const size_t rank = tt::shapeOf(value.getType()).size();
  const uint32_t all = (1u << rank) - 1;
  Operation *op = value.getDefiningOp();
  if (!rank || !op)
    return rank ? all : 0;
  DenseElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return constant.isSplat() ? 0 : all;
  if (op->getNumOperands() == 0)
    return all;
  uint32_t bits = 0;
  for (auto [operand, source] : llvm::enumerate(op->getOperands())) {
    const auto map = independentMap(op, operand, cast<OpResult>(value).getResultNumber());
    if (!map)
      return all;
    const uint32_t inner = dependence(source);
    for (auto [dim, index] : llvm::enumerate(*map)) {
      if (!(inner >> dim & 1))
        continue;
      if (index.kind == tt::ElementIndex::Kind::Unknown)
        return all;
      if (index.kind == tt::ElementIndex::Kind::ResultDim)
        bits |= 1u << index.number;
    }
  }
  return bits;
}
