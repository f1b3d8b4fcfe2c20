// Finds the ranges of tiles.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/plan/Ranges.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
class RangeAnalysis {
public:
  explicit RangeAnalysis(AffineInfo &affineInfo) : affineInfo(affineInfo) {}
  std::optional<RangeExpr> of(Value tile, const IndexMap &map);

private:
  std::optional<RangeExpr> combine(RangeKind kind, Operation *op, const IndexMap &map, ArrayRef<unsigned> operands,
                                   int64_t factor = 1);
  std::optional<RangeExpr> withConstant(RangeKind kind, Operation *op, const IndexMap &map);

  AffineInfo &affineInfo;
  unsigned nodes = 0;
};
} // namespace

std::optional<RangeExpr> RangeAnalysis::combine(RangeKind kind, Operation *op, const IndexMap &map,
                                                ArrayRef<unsigned> operands, int64_t factor) {
  RangeExpr range;
  range.kind = kind;
  range.factor = factor;
  for (unsigned index : operands) {
    const IndexMap unknown(tt::shapeOf(op->getOperand(index).getType()).size(), -1);
    std::optional<RangeExpr> operand = of(op->getOperand(index), operandMap(op, index, map).value_or(unknown));
    if (!operand)
      return std::nullopt;
    range.operands.push_back(std::move(*operand));
  }
  return range;
}

std::optional<RangeExpr> RangeAnalysis::withConstant(RangeKind kind, Operation *op, const IndexMap &map) {
  APInt constant;
  unsigned tile = 0;
  if (!matchPattern(op->getOperand(1), m_ConstantInt(&constant))) {
    if (kind != RangeKind::Product || !matchPattern(op->getOperand(0), m_ConstantInt(&constant)))
      return std::nullopt;
    tile = 1;
  }
  if (!constant.isStrictlyPositive() || !constant.isSignedIntN(32))
    return std::nullopt;
  return combine(kind, op, map, {tile}, constant.getSExtValue());
}

std::optional<RangeExpr> RangeAnalysis::of(Value tile, const IndexMap &map) {
  constexpr unsigned maxNodes = 48;
  if (++nodes > maxNodes)
    return std::nullopt;
  if (const AffineForm *form = affineInfo.affine(tile)) {
    RangeExpr range;
    range.form = *form;
    range.shape.assign(tt::shapeOf(tile.getType()).begin(), tt::shapeOf(tile.getType()).end());
    range.map = map;
    return range;
  }
  Operation *op = tile.getDefiningOp();
  const Type element = tt::elementOf(tile.getType());
  if (!op || !(isa<IndexType, tt::PointerType>(element) || element.isInteger(32) || element.isInteger(64)))
    return std::nullopt;
  if (auto add = dyn_cast<tt::AddPtrOp>(op)) {
    Type pointee = cast<tt::PointerType>(tt::elementOf(add.getType())).getPointee();
    return combine(RangeKind::Sum, op, map, {0, 1}, static_cast<int64_t>(storageBytes(pointee)));
  }
  if (isa<arith::AddIOp>(op))
    return combine(RangeKind::Sum, op, map, {0, 1});
  if (isa<arith::SubIOp>(op))
    return combine(RangeKind::Difference, op, map, {0, 1});
  if (isa<arith::MulIOp>(op))
    return withConstant(RangeKind::Product, op, map);
  if (isa<arith::DivSIOp>(op))
    return withConstant(RangeKind::Quotient, op, map);
  if (isa<arith::RemSIOp>(op))
    return withConstant(RangeKind::Remainder, op, map);
  if (isa<arith::MinSIOp>(op))
    return combine(RangeKind::Minimum, op, map, {0, 1});
  if (isa<arith::MaxSIOp>(op))
    return combine(RangeKind::Maximum, op, map, {0, 1});
  if (isa<arith::SelectOp>(op))
    return combine(RangeKind::Union, op, map, {1, 2});
  const bool isSame = isa<arith::ExtSIOp, arith::IndexCastOp, tt::BitcastOp, tt::ExpandDimsOp, tt::BroadcastOp,
                          tt::TransOp, tt::ReshapeOp, tt::SplatOp>(op);
  return isSame ? combine(RangeKind::Union, op, map, {0}) : std::nullopt;
}

std::optional<RangeExpr> cpu::rangeOf(AffineInfo &affineInfo, Value tile) {
  return RangeAnalysis(affineInfo).of(tile, identityMap(tt::shapeOf(tile.getType()).size()));
}

bool cpu::allScalars(const RangeExpr &range, AffineInfo &affineInfo, llvm::function_ref<bool(Value)> predicate) {
  auto holds = [&](const Poly &poly) {
    return llvm::all_of(poly.terms(), [&](const Poly::Term &term) {
      return llvm::all_of(term.factors, [&](SymbolId symbol) { return predicate(affineInfo.valueOf(symbol)); });
    });
  };
  if (range.kind == RangeKind::Affine)
    return (!range.form.pointer || predicate(range.form.pointer)) && holds(range.form.base) &&
           llvm::all_of(range.form.strides, holds);
  return llvm::all_of(range.operands,
                      [&](const RangeExpr &operand) { return allScalars(operand, affineInfo, predicate); });
}
