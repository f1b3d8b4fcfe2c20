// Emits dots by matrix instructions (mfma, wmma).
// SPDX-License-Identifier: MIT
//
// An instruction multiplies the k that its lanes hold, whichever they are, as long as both operands have the same: so it
// takes a lane's elements along k in the order of its registers. All tiles of the result take one step along k before
// the next: operands that come from shared memory are read for one step, which keeps few registers.
#include "compiler/lowering/TtgToLlvm/DotOperand.h"
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"
#include "compiler/target/amd/lowering/MatrixIntrinsics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::amd;
using layout::LinearLayout;

/// The element type that operands are converted to.
static Type operandType(MatrixKind kind, Type element) {
  switch (kind) {
  case MatrixKind::F16:
    return Float16Type::get(element.getContext());
  case MatrixKind::BF16:
    return BFloat16Type::get(element.getContext());
  case MatrixKind::F32:
  case MatrixKind::XF32:
  case MatrixKind::F64:
  case MatrixKind::Int8:
  case MatrixKind::Fp8:
    return element;
  }
  llvm_unreachable("all kinds are listed");
}

static Type elementOf(Value tile) { return tt::elementOf(tile.getType()); }

namespace {

class MatrixDotEmitter {
public:
  MatrixDotEmitter(TtgFunctionEmitter &emitter, tt::DotOp op, layout::AmdMatrixTile tile, unsigned kWidth,
                   MatrixInstruction instruction, const Arch &arch)
      : emitter(emitter), ir(emitter.ir), op(op), tile(tile), kWidth(kWidth), instruction(instruction), arch(arch),
        result(cast<RankedTensorType>(op.getType())), row(result.coordinates(0).size() - 2), column(row + 1),
        left(emitter, op.getA(), operandType(instruction.kind, elementOf(op.getA())), column),
        right(emitter, op.getB(), operandType(instruction.kind, elementOf(op.getB())), row),
        copiesAlongK(layout::amdLanesBeyond(tile, kWidth, left.depth())) {}

  /// Adds the dot to `accumulators`.
  void run(Tile &accumulators);

private:
  using Coordinates = LinearLayout::Coordinates;

  SmallVector<Coordinates> corners() const;
  void multiply(const Coordinates &corner, unsigned step, Tile &accumulators);
  llvm::Value *operandAt(unsigned operand, Coordinates corner, unsigned step);
  llvm::Value *makeOperand(unsigned operand, const Coordinates &corner, unsigned step);
  DotOperand &of(unsigned operand) { return operand == 0 ? left : right; }
  /// Elements along k that a lane holds, copies counted once.
  unsigned elementsOfLane() const { return std::max<int64_t>(1, left.depth() / tile.groupsAlongK()); }

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::DotOp op;
  const layout::AmdMatrixTile tile;
  const unsigned kWidth; ///< adjacent elements along k of a lane
  const MatrixInstruction instruction;
  const Arch &arch;
  RegisterMap result;
  unsigned row, column;
  DotOperand left, right;
  uint32_t copiesAlongK; ///< lanes with one of these bits hold copies, which are counted once
  std::map<std::pair<unsigned, unsigned>, llvm::Value *> operands; ///< of the step, by operand and first register
};

} // namespace

/// The elements of one instruction, zero beyond those that the lane holds.
llvm::Value *MatrixDotEmitter::makeOperand(unsigned operand, const Coordinates &corner, unsigned step) {
  Tile elements;
  for (unsigned index = 0; index < instruction.perLane; ++index) {
    const unsigned number = step * instruction.perLane + index;
    const int64_t k = number / kWidth * kWidth * tile.groupsAlongK() + number % kWidth;
    elements.push_back(number < elementsOfLane() ? of(operand).at(corner, k)
                                                 : llvm::Constant::getNullValue(elements.front()->getType()));
  }
  llvm::Value *whole = elements.front();
  if (elements.size() > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(whole->getType(), elements.size()));
    for (auto [index, value] : llvm::enumerate(elements))
      whole = ir.CreateInsertElement(whole, value, uint64_t{index});
  }
  if (llvm::Value *counts = copiesAlongK ? emitter.threadHasNone(copiesAlongK, 0) : nullptr)
    whole = ir.CreateSelect(counts, whole, llvm::Constant::getNullValue(whole->getType()));
  return whole;
}

llvm::Value *MatrixDotEmitter::operandAt(unsigned operand, Coordinates corner, unsigned step) {
  corner[operand == 0 ? row : column] %= of(operand).extent(operand == 0 ? row : column);
  corner[operand == 0 ? column : row] = 0;
  llvm::Value *&known = operands[{operand, of(operand).registerOf(corner)}];
  if (!known)
    known = makeOperand(operand, corner, step);
  return known;
}

/// Emits one step along k of one tile of the result.
void MatrixDotEmitter::multiply(const Coordinates &corner, unsigned step, Tile &accumulators) {
  SmallVector<unsigned, 16> indices;
  for (unsigned offset : tile.run()) {
    Coordinates at = corner;
    at[tile.isTransposed ? column : row] += offset;
    indices.push_back(result.at(at));
  }
  Tile fragment;
  for (unsigned index : indices)
    fragment.push_back(accumulators[index]);
  MatrixOperands one = {.a = operandAt(0, corner, step),
                        .b = operandAt(1, corner, step),
                        .isAE4m3 = isa<Float8E4M3FNType, Float8E4M3FNUZType>(elementOf(op.getA())),
                        .isBE4m3 = isa<Float8E4M3FNType, Float8E4M3FNUZType>(elementOf(op.getB()))};
  // A transposed accumulator is the product of the transposed operands.
  if (tile.isTransposed) {
    std::swap(one.a, one.b);
    std::swap(one.isAE4m3, one.isBE4m3);
  }
  fragment = multiplyMatrices(ir, instruction, arch, one, fragment);
  for (auto [index, value] : llvm::zip_equal(indices, fragment))
    accumulators[index] = value;
}

/// The first elements of the tiles of the result that a wave holds.
SmallVector<LinearLayout::Coordinates> MatrixDotEmitter::corners() const {
  SmallVector<Coordinates> found;
  llvm::DenseSet<unsigned> known;
  for (unsigned index = 0; index < result.size(); ++index) {
    Coordinates corner = result.coordinates(index);
    corner[row] -= corner[row] % tile.extent;
    corner[column] -= corner[column] % tile.extent;
    if (known.insert(result.at(corner)).second)
      found.push_back(corner);
  }
  return found;
}

void MatrixDotEmitter::run(Tile &accumulators) {
  const SmallVector<Coordinates> tiles = corners();
  for (unsigned step = 0; step * instruction.perLane < elementsOfLane(); ++step) {
    operands.clear();
    for (const Coordinates &corner : tiles)
      multiply(corner, step, accumulators);
  }
}

static LogicalResult emitMatrixDot(TtgFunctionEmitter &emitter, tt::DotOp op) {
  const auto &target = static_cast<const AmdEmitter &>(emitter.target);
  const ttg::LayoutEncoding encoding = ttg::encodingOf(op.getType());
  auto mfma = dyn_cast<ttg::AmdMfmaAttr>(encoding);
  auto wmma = dyn_cast<ttg::AmdWmmaAttr>(encoding);
  const std::optional<MatrixKind> kind = matrixKindOf(op, target.arch);
  if (!(mfma || wmma) || !kind)
    return emitFmaDot(emitter, op);
  const layout::AmdMatrixTile tile = mfma ? mfma.getTile() : wmma.getTile();
  const std::optional<MatrixInstruction> instruction = matrixInstruction(target.arch, *kind, tile.extent);
  auto operand = dyn_cast<ttg::DotOperandAttr>(ttg::encodingOf(op.getA().getType()));
  if (!instruction || !operand)
    return op.emitError() << "has no matrix instruction for its layout";
  accumulateDot(emitter, op, [&](Type, Tile &accumulators) {
    MatrixDotEmitter(emitter, op, tile, operand.getKWidth(), *instruction, target.arch).run(accumulators);
  });
  return success();
}

void amd::addMatrixDotEmitters(OpEmitters &table) { table.add<emitMatrixDot, tt::DotOp>(); }
