// Products of tiles by matrix instructions of a warp.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/ElementProduct.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"

#include "compiler/dialect/ttg/MatrixKind.h"
#include "compiler/layout/Distributed.h"
#include "compiler/layout/Mma.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using layout::LinearLayout;

namespace nereid::lowering {

class DotEmitter {
public:
  DotEmitter(FunctionEmitter &emitter, tt::DotOp op)
      : emitter(emitter), ir(emitter.ir), op(op), left(cast<RankedTensorType>(op.getA().getType())),
        right(cast<RankedTensorType>(op.getB().getType())), result(cast<RankedTensorType>(op.getType())),
        row(result.place(0).size() - 2), column(row + 1) {}

  LogicalResult run();

private:
  using Place = LinearLayout::Coordinates;
  /// The parts whose sum an operand's word stands for, the greatest first.
  using Parts = SmallVector<llvm::Value *, 3>;

  void byInstructions(ttg::MatrixKind kind);
  void multiply(const Place &place, int64_t k);
  Parts word(unsigned operand, Place place, unsigned k);
  Parts makeWord(unsigned operand, const Place &place, unsigned k);
  Parts partsOf(llvm::Value *value, Type element);
  llvm::Value *widen(llvm::Value *value, Type from, Type to) { return emitter.elements.convert(value, from, to); }
  unsigned numParts();
  Type accumulatorType();

  FunctionEmitter &emitter;
  IrBuilder &ir;
  tt::DotOp op;
  RegisterMap left, right, result;
  unsigned row, column;
  ttg::MatrixKind kind = ttg::MatrixKind::F16;
  uint32_t copiesAlongK = 0; ///< lanes with one of these bits hold copies, which count once
  Tile accumulators;
  std::map<std::tuple<unsigned, unsigned, unsigned>, Parts> words; ///< by operand, first register and k
};

} // namespace nereid::lowering

Type DotEmitter::accumulatorType() {
  Type element = tt::elementOf(op.getType());
  if (isa<IntegerType>(element) || element.isF64())
    return element;
  return Float32Type::get(op.getContext());
}

LogicalResult DotEmitter::run() {
  Type element = tt::elementOf(op.getType()), sum = accumulatorType();
  for (llvm::Value *value : emitter.tile(op.getC()))
    accumulators.push_back(widen(value, element, sum));
  auto kindOfOp = ttg::matrixKindOf(op);
  auto instruction = dyn_cast<ttg::NvidiaMmaAttr>(cast<RankedTensorType>(op.getType()).getEncoding());
  if (instruction && instruction.isOfWarpGroups())
    return op.emitError() << "operands of a product by warp groups lie in shared memory; `ttng.warp_group_dot` takes them";
  if (instruction && kindOfOp)
    byInstructions(*kindOfOp);
  else
    multiplyElements(emitter, op, sum, accumulators);
  for (llvm::Value *&value : accumulators)
    value = widen(value, sum, element);
  emitter.define(op, std::move(accumulators));
  return success();
}

//--- by instructions -----------------------------------------------------------------------

unsigned DotEmitter::numParts() {
  if (!tt::elementOf(op.getA().getType()).isF32())
    return 1;
  switch (op.getInputPrecision()) {
  case tt::InputPrecision::TF32:
  case tt::InputPrecision::IEEE:
    return 1;
  case tt::InputPrecision::TF32x3:
  case tt::InputPrecision::BF16x3:
    return 2;
  case tt::InputPrecision::BF16x6:
    return 3;
  }
  llvm_unreachable("all precisions are listed");
}

/// An element as the sum of elements of the instruction's type.
DotEmitter::Parts DotEmitter::partsOf(llvm::Value *value, Type element) {
  MLIRContext *context = op.getContext();
  switch (kind) {
  case ttg::MatrixKind::Int8:
  case ttg::MatrixKind::F64:
    return {value};
  case ttg::MatrixKind::F16:
    return {widen(value, element, Float16Type::get(context))};
  case ttg::MatrixKind::BF16:
  case ttg::MatrixKind::TF32:
    break;
  }
  Type single = Float32Type::get(context), narrow = BFloat16Type::get(context);
  // The tensor core cuts f32 to tf32, in every instruction alike; rounded here, a warp's dot would differ from a warp group's.
  if (element != single || op.getInputPrecision() == tt::InputPrecision::TF32)
    return {value};
  Parts parts;
  for (unsigned part = 0; part < numParts(); ++part) {
    llvm::Value *rounded = kind == ttg::MatrixKind::TF32 ? emitter.target.roundToTf32(ir, value)
                                                         : widen(value, single, narrow);
    parts.push_back(rounded);
    if (part + 1 < numParts())
      value = ir.CreateFSub(value, kind == ttg::MatrixKind::TF32 ? rounded : widen(rounded, narrow, single));
  }
  return parts;
}

DotEmitter::Parts DotEmitter::makeWord(unsigned operand, const Place &place, unsigned k) {
  const RegisterMap &map = operand == 0 ? left : right;
  Value source = operand == 0 ? op.getA() : op.getB();
  const unsigned alongK = operand == 0 ? column : row, run = ttg::runAlongK(kind);
  SmallVector<Tile, 3> elements(numParts());
  for (unsigned index = 0; index < run; ++index) {
    Place at = place;
    at[alongK] = k + index;
    const Parts parts = partsOf(emitter.tile(source)[map.at(at)], tt::elementOf(source.getType()));
    for (auto [list, part] : llvm::zip_equal(elements, parts))
      list.push_back(at[alongK] < map.extent(alongK) ? part : llvm::Constant::getNullValue(part->getType()));
  }
  Parts parts;
  llvm::Type *type = kind == ttg::MatrixKind::F64 ? ir.getDoubleTy() : ir.getInt32Ty();
  llvm::Value *counts = copiesAlongK ? emitter.threadHasNone(copiesAlongK, 0) : nullptr;
  for (Tile &list : elements) {
    llvm::Value *whole = list.front();
    if (run > 1) {
      whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(whole->getType(), run));
      for (auto [index, value] : llvm::enumerate(list))
        whole = ir.CreateInsertElement(whole, value, uint64_t{index});
    }
    whole = ir.CreateBitCast(whole, type);
    parts.push_back(counts ? ir.CreateSelect(counts, whole, llvm::Constant::getNullValue(type)) : whole);
  }
  return parts;
}

DotEmitter::Parts DotEmitter::word(unsigned operand, Place place, unsigned k) {
  const unsigned alongK = operand == 0 ? column : row;
  place[operand == 0 ? row : column] %= (operand == 0 ? left : right).extent(operand == 0 ? row : column);
  place[alongK] = 0;
  const unsigned first = (operand == 0 ? left : right).at(place);
  auto [found, isNew] = words.try_emplace({operand, first, k});
  if (isNew)
    found->second = makeWord(operand, place, k);
  return found->second;
}

/// One box of the result, one step along k.
void DotEmitter::multiply(const Place &place, int64_t k) {
  const unsigned step = layout::kMmaLanesAlongK * ttg::runAlongK(kind);
  SmallVector<Parts, 4> a, b;
  for (unsigned half : {0, 1}) {
    for (unsigned rows : {0, 8}) {
      Place at = place;
      at[row] += rows;
      a.push_back(word(0, at, k + half * step));
    }
    b.push_back(word(1, place, k + half * step));
  }
  SmallVector<unsigned, 4> indices;
  for (unsigned rows : {0, 8})
    for (unsigned columns : {0, 1}) {
      Place at = place;
      at[row] += rows;
      at[column] += columns;
      indices.push_back(result.at(at));
    }
  SmallVector<llvm::Value *, 4> sums;
  for (unsigned index : indices)
    sums.push_back(accumulators[index]);
  // Products of small parts come first, so that they are not lost beside large ones.
  const unsigned count = numParts();
  for (unsigned sum = count; sum-- > 0;)
    for (unsigned part = 0; part <= sum; ++part) {
      auto pick = [](ArrayRef<Parts> from, unsigned which) {
        return llvm::map_to_vector<4>(from, [&](const Parts &parts) { return parts[which]; });
      };
      sums = emitter.target.multiplyMatrices(ir, kind, pick(a, part), pick(b, sum - part), sums);
    }
  for (auto [index, value] : llvm::zip_equal(indices, sums))
    accumulators[index] = value;
}

void DotEmitter::byInstructions(ttg::MatrixKind ofOp) {
  kind = ofOp;
  const unsigned run = ttg::runAlongK(kind);
  copiesAlongK = layout::mmaLanesBeyond(run, left.extent(column));
  for (int64_t k = 0; k < left.extent(column); k += 2 * layout::kMmaLanesAlongK * run)
    for (unsigned index = 0; index < result.size(); ++index) {
      const Place place = result.place(index);
      if ((place[column] & 1) == 0 && (place[row] & 8) == 0)
        multiply(place, k);
    }
}

LogicalResult FunctionEmitter::emitDot(tt::DotOp op) { return DotEmitter(*this, op).run(); }
