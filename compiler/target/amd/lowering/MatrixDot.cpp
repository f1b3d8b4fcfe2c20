// Emits dots by matrix instructions (mfma, wmma).
// SPDX-License-Identifier: MIT
//
// An instruction multiplies the k that its lanes hold, whichever they are, as long as both operands have the same: so it
// takes a lane's elements along k in the order of its registers.
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"
#include "compiler/target/amd/lowering/MatrixIntrinsics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::amd;
using layout::LinearLayout;

namespace {

class MatrixDotEmitter {
public:
  MatrixDotEmitter(TtgFunctionEmitter &emitter, tt::DotOp op, layout::AmdMatrixTile tile, unsigned kWidth,
                   MatrixInstruction instruction, const Arch &arch)
      : emitter(emitter), ir(emitter.ir), op(op), tile(tile), kWidth(kWidth), instruction(instruction), arch(arch),
        left(cast<RankedTensorType>(op.getA().getType())), right(cast<RankedTensorType>(op.getB().getType())),
        result(cast<RankedTensorType>(op.getType())), row(result.coordinates(0).size() - 2), column(row + 1),
        copiesAlongK(layout::amdLanesBeyond(tile, kWidth, left.extent(column))) {}

  /// Adds the dot to `accumulators`.
  void run(Tile &accumulators);

private:
  using Coordinates = LinearLayout::Coordinates;

  void multiply(const Coordinates &corner, Tile &accumulators);
  llvm::Value *operandAt(unsigned operand, Coordinates corner, unsigned step);
  llvm::Value *makeOperand(unsigned operand, const Coordinates &corner, unsigned step);
  llvm::Value *element(unsigned operand, const Coordinates &coordinates);
  /// Elements along k that a lane holds, copies counted once.
  unsigned elementsOfLane() const {
    return std::max<int64_t>(1, left.extent(column) / tile.groupsAlongK());
  }
  unsigned alongK(unsigned operand) const { return operand == 0 ? column : row; }
  unsigned across(unsigned operand) const { return operand == 0 ? row : column; }

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::DotOp op;
  const layout::AmdMatrixTile tile;
  const unsigned kWidth; ///< adjacent elements along k of a lane
  const MatrixInstruction instruction;
  const Arch &arch;
  RegisterMap left, right, result;
  unsigned row, column;
  uint32_t copiesAlongK; ///< lanes with one of these bits hold copies, which are counted once
  std::map<std::tuple<unsigned, unsigned, unsigned>, llvm::Value *> operands; ///< by operand, first register and step
};

} // namespace

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

llvm::Value *MatrixDotEmitter::element(unsigned operand, const Coordinates &coordinates) {
  Value source = operand == 0 ? op.getA() : op.getB();
  const Type type = tt::elementOf(source.getType());
  llvm::Value *value = emitter.tile(source)[(operand == 0 ? left : right).at(coordinates)];
  return emitter.elements.convert(value, type, operandType(instruction.kind, type));
}

/// The elements of one instruction, zero beyond those that the lane holds.
llvm::Value *MatrixDotEmitter::makeOperand(unsigned operand, const Coordinates &corner, unsigned step) {
  Tile elements;
  for (unsigned index = 0; index < instruction.perLane; ++index) {
    const unsigned number = step * instruction.perLane + index;
    Coordinates at = corner;
    at[alongK(operand)] = number / kWidth * kWidth * tile.groupsAlongK() + number % kWidth;
    const bool exists = number < elementsOfLane();
    elements.push_back(exists ? element(operand, at) : nullptr);
  }
  llvm::Type *type = elements.front()->getType();
  for (llvm::Value *&value : elements)
    if (!value)
      value = llvm::Constant::getNullValue(type);
  llvm::Value *whole = elements.front();
  if (elements.size() > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(type, elements.size()));
    for (auto [index, value] : llvm::enumerate(elements))
      whole = ir.CreateInsertElement(whole, value, uint64_t{index});
  }
  if (llvm::Value *counts = copiesAlongK ? emitter.threadHasNone(copiesAlongK, 0) : nullptr)
    whole = ir.CreateSelect(counts, whole, llvm::Constant::getNullValue(whole->getType()));
  return whole;
}

llvm::Value *MatrixDotEmitter::operandAt(unsigned operand, Coordinates corner, unsigned step) {
  const RegisterMap &map = operand == 0 ? left : right;
  corner[across(operand)] %= map.extent(across(operand));
  corner[alongK(operand)] = 0;
  llvm::Value *&known = operands[{operand, map.at(corner), step}];
  if (!known)
    known = makeOperand(operand, corner, step);
  return known;
}

/// Emits one tile of the result for all of k.
void MatrixDotEmitter::multiply(const Coordinates &corner, Tile &accumulators) {
  SmallVector<unsigned, 16> indices;
  for (unsigned offset : tile.run()) {
    Coordinates at = corner;
    at[tile.isTransposed ? column : row] += offset;
    indices.push_back(result.at(at));
  }
  Tile fragment;
  for (unsigned index : indices)
    fragment.push_back(accumulators[index]);
  const Type leftType = tt::elementOf(op.getA().getType()), rightType = tt::elementOf(op.getB().getType());
  for (unsigned step = 0; step * instruction.perLane < elementsOfLane(); ++step) {
    MatrixOperands one = {.a = operandAt(0, corner, step), .b = operandAt(1, corner, step),
                          .isAE4m3 = isa<Float8E4M3FNType, Float8E4M3FNUZType>(leftType),
                          .isBE4m3 = isa<Float8E4M3FNType, Float8E4M3FNUZType>(rightType)};
    // A transposed accumulator is the product of the transposed operands.
    if (tile.isTransposed) {
      std::swap(one.a, one.b);
      std::swap(one.isAE4m3, one.isBE4m3);
    }
    fragment = multiplyMatrices(ir, instruction, arch, one, fragment);
  }
  for (auto [index, value] : llvm::zip_equal(indices, fragment))
    accumulators[index] = value;
}

void MatrixDotEmitter::run(Tile &accumulators) {
  llvm::DenseSet<unsigned> corners;
  for (unsigned index = 0; index < result.size(); ++index) {
    Coordinates corner = result.coordinates(index);
    corner[row] -= corner[row] % tile.extent;
    corner[column] -= corner[column] % tile.extent;
    if (corners.insert(result.at(corner)).second)
      multiply(corner, accumulators);
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
