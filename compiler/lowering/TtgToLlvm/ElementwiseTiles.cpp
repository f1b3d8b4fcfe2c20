// Emits elementwise ops on tiles, register by register, and equal operands once.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/Index.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/PackedBytes.h"

#include "compiler/analysis/MemoryAccess.h"
#include "compiler/dialect/tt/Diagnostics.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/Diagnostics.h"

#include "llvm/ADT/Hashing.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static LogicalResult emitConstant(TtgFunctionEmitter &emitter, arith::ConstantOp op) {
  const Type element = tt::elementOf(op.getType());
  Attribute value = op.getValue();
  if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (!dense.isSplat())
      return tt::report(op.getLoc(), tt::diag::TileConstants);
    value = dense.getSplatValue<Attribute>();
  }
  emitter.define(op, Tile(numRegisters(op.getType()), emitter.elements.constant(value, element)));
  return success();
}

static LogicalResult emitPoison(TtgFunctionEmitter &emitter, ub::PoisonOp op) {
  llvm::Constant *value = emitter.elements.constant({}, tt::elementOf(op.getType()));
  emitter.define(op, Tile(numRegisters(op.getType()), value));
  return success();
}

namespace {
/// Finds registers whose operands an earlier register had: splats and copies are computed once.
class EarlierRegisters {
public:
  /// The earliest register with these operands; `index` itself where there is none.
  unsigned find(ArrayRef<llvm::Value *> operands, unsigned index) {
    const llvm::hash_code hash = llvm::hash_combine_range(operands);
    for (unsigned earlier : byHash[hash])
      if (ArrayRef<llvm::Value *>(all[earlier]) == operands)
        return earlier;
    all[index] = SmallVector<llvm::Value *, 3>(operands);
    byHash[hash].push_back(index);
    return index;
  }

private:
  llvm::DenseMap<size_t, SmallVector<unsigned, 1>> byHash;
  llvm::DenseMap<unsigned, SmallVector<llvm::Value *, 3>> all;
};
} // namespace

/// Sums, products and ranges, whose contiguous runs are aligned groups that no wraparound divides.
static bool isPlainIndex(Value value) {
  if (!isa<RankedTensorType>(value.getType()))
    return true;
  Operation *op = value.getDefiningOp();
  return op &&
         isa<arith::AddIOp, arith::MulIOp, arith::ConstantOp, tt::MakeRangeOp, tt::SplatOp, tt::BroadcastOp,
             tt::ExpandDimsOp>(op) &&
         llvm::all_of(op->getOperands(), isPlainIndex);
}

/// Register bits that only move inside groups of equal elements. Only comparisons of plain indices qualify: other
/// results of the axis analysis assume that nothing overflows, which is right for addresses but not for values.
static uint32_t repeatMask(Value value, const index::AxisInfoAnalysis &axes) {
  auto compare = value.getDefiningOp<arith::CmpIOp>();
  if (!compare || !isa<RankedTensorType>(value.getType()) || !llvm::all_of(compare->getOperands(), isPlainIndex))
    return 0;
  return analysis::repeatedRegisters(axes.of(value), ttg::linearLayoutOf(cast<RankedTensorType>(value.getType())));
}

/// The operands' registers from `index` on, four of each; empty where the op or its tile has no form on words.
static SmallVector<Tile, 2> bytesFrom(TtgFunctionEmitter &emitter, Operation *op, unsigned index, unsigned count) {
  SmallVector<Tile, 2> operands;
  if (index % kBytesOfWord || index + kBytesOfWord > count || !hasPackedForm(op))
    return operands;
  for (Value operand : op->getOperands()) {
    const Tile &tile = emitter.tile(operand);
    operands.push_back(isa<RankedTensorType>(operand.getType())
                           ? Tile(ArrayRef<llvm::Value *>(tile).slice(index, kBytesOfWord))
                           : Tile(kBytesOfWord, tile.front()));
  }
  return operands;
}

/// Emits four registers at once; false, with nothing emitted, where that is no better than one by one.
static bool emitBytes(TtgFunctionEmitter &emitter, Operation *op, unsigned index, unsigned count, Tile &result) {
  const SmallVector<Tile, 2> operands = bytesFrom(emitter, op, index, count);
  if (operands.empty())
    return false;
  const Tile bytes =
      emitPacked(emitter.ir, op, SmallVector<ArrayRef<llvm::Value *>, 2>(operands.begin(), operands.end()));
  result.append(bytes);
  return !bytes.empty();
}

static LogicalResult emitElementwise(TtgFunctionEmitter &emitter, Operation *op) {
  if (op->getNumRegions() || op->getNumResults() == 0)
    return tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect(), "");
  if (emitIndex(emitter, op))
    return success();
  const unsigned count = numRegisters(op->getResult(0).getType());
  SmallVector<Tile, 2> results(op->getNumResults());
  EarlierRegisters earlier;
  const uint32_t repeats = op->getNumResults() == 1 ? repeatMask(op->getResult(0), emitter.module.axes) : 0;
  for (unsigned index = 0; index < count; ++index) {
    if (index & repeats) {
      results.front().push_back(results.front()[index & ~repeats]);
      continue;
    }
    if (emitBytes(emitter, op, index, count, results.front())) {
      index += kBytesOfWord - 1;
      continue;
    }
    SmallVector<llvm::Value *, 3> operands;
    for (Value operand : op->getOperands()) // a scalar operand serves all registers
      operands.push_back(emitter.tile(operand)[isa<RankedTensorType>(operand.getType()) ? index : 0]);
    if (unsigned same = count > 1 ? earlier.find(operands, index) : index; same != index) {
      for (Tile &result : results)
        result.push_back(result[same]);
      continue;
    }
    auto emitted = emitter.elements.emit(op, operands);
    if (emitted.empty())
      return failure();
    for (auto [result, value] : llvm::zip_equal(results, emitted))
      result.push_back(value);
  }
  for (auto [value, result] : llvm::zip_equal(op->getResults(), results))
    emitter.define(value, std::move(result));
  return success();
}

void lowering::addElementwiseEmitters(OpEmitters &table) {
  table.add<emitConstant, arith::ConstantOp>();
  table.add<emitPoison, ub::PoisonOp>();
  table.setDefault(emitElementwise);
}
