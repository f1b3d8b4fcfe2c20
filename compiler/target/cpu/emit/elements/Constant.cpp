// Emits the elements of constants and ranges.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/emit/Diagnostics.h"
#include "compiler/target/cpu/emit/elements/ElementTable.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

static Element emitConstant(NestContext &context, OpResult result, const IndexMap &, unsigned) {
  Attribute splat; // null: poison
  if (!isa<ub::PoisonOp>(result.getOwner())) {
    DenseElementsAttr constant;
    if (!matchPattern(result, m_Constant(&constant)) || !constant.isSplat()) {
      tt::report(result.getLoc(), diag::TileConstantUnsupported);
      return {};
    }
    splat = constant.getSplatValue<Attribute>();
  }
  return {context.lanes.constant(splat, tt::elementOf(result.getType()), 1), false};
}

static Element emitRange(NestContext &context, OpResult result, const IndexMap &map, unsigned level) {
  llvm::IRBuilder<> &ir = context.ir;
  const auto start = static_cast<int32_t>(cast<tt::MakeRangeOp>(result.getOwner()).getStart());
  context.levels.insertAt(level);
  llvm::Type *type = ir.getInt32Ty();
  if (map[0] < 0)
    return {llvm::ConstantInt::getSigned(type, int64_t(start) + indexOfFixed(map[0])), false};
  llvm::Value *base = llvm::ConstantInt::getSigned(type, start);
  llvm::Value *first = ir.CreateAdd(ir.CreateTrunc(context.levels.indexOf(map[0]), type), base);
  if (!context.isVector(map))
    return {first, false};
  return {ir.CreateAdd(ir.CreateVectorSplat(context.chunk.lanes, first), context.laneNumbers(type)), true};
}

namespace nereid::cpu {
extern const ElementTraits constantElement = {
    .matches = [](Operation *op) { return op->hasTrait<OpTrait::ConstantLike>(); },
    .isRegular = false,
    .emit = emitConstant};
extern const ElementTraits rangeElement = {
    .matches = [](Operation *op) { return isa<tt::MakeRangeOp>(op); }, .isRegular = false, .emit = emitRange};
} // namespace nereid::cpu
