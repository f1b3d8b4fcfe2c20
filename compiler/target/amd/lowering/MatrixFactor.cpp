// Collects a lane's elements and scales of an operand of a matrix instruction.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/lowering/MatrixFactor.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::amd;

MatrixFactor::MatrixFactor(TtgFunctionEmitter &emitter, const FactorForm &form, const layout::AmdMatrixTile &tile)
    : emitter(emitter), ir(emitter.ir), form(form), tile(tile), elements(emitter, form.tile, form.wide, form.alongK()),
      copiesAlongK(layout::amdLanesBeyond(tile, form.kWidth, elements.depth())) {}

unsigned MatrixFactor::elementsOfLane() const {
  const int64_t depth = elements.depth();
  return std::max<int64_t>(std::min<int64_t>(form.kWidth, depth), depth / tile.groupsAlongK());
}

void MatrixFactor::computeAtSteps() {
  if (OperandSinker candidate(ir, emitter.target.sharedAddressSpace());
      !elements.isInBuffer() && candidate.savesRegisters(emitter.tile(form.tile)))
    sinker.emplace(std::move(candidate));
}

/// The elements of one instruction, zero beyond those that the lane holds.
llvm::Value *MatrixFactor::makeElements(const Coordinates &corner, unsigned step) {
  Tile values;
  for (unsigned index = 0; index < form.perLane; ++index) {
    const unsigned number = step * form.perLane + index;
    const int64_t k = number / form.kWidth * form.kWidth * tile.groupsAlongK() + number % form.kWidth;
    values.push_back(number < elementsOfLane() ? elements.at(corner, k)
                                               : llvm::Constant::getNullValue(values.front()->getType()));
  }
  if (sinker)
    sinker->sinkToEnd(values);
  llvm::Value *whole = values.front();
  if (values.size() > 1) {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(whole->getType(), values.size()));
    for (auto [index, value] : llvm::enumerate(values))
      whole = ir.CreateInsertElement(whole, value, uint64_t{index});
  }
  if (llvm::Value *counts = copiesAlongK ? emitter.threadHasNone(copiesAlongK, 0) : nullptr)
    whole = ir.CreateSelect(counts, whole, llvm::Constant::getNullValue(whole->getType()));
  return whole;
}

/// The registers of four scales are one word, of which the instruction names the byte.
void MatrixFactor::addScale(const Coordinates &corner, unsigned step, MatrixOperand &to) {
  static constexpr unsigned kBytes = 4;
  if (!scaleMap)
    scaleMap.emplace(cast<RankedTensorType>(form.scales.getType()));
  Coordinates at = corner;
  at[at.size() - 2] = corner[form.across()];
  at[at.size() - 1] = step * tile.groupsAlongK();
  const unsigned index = scaleMap->at(at), first = index / kBytes * kBytes;
  llvm::Value *&word = scaleWords[first];
  if (!word) {
    llvm::ArrayRef<llvm::Value *> scales = emitter.tile(form.scales);
    word = llvm::Constant::getNullValue(llvm::FixedVectorType::get(ir.getInt8Ty(), kBytes));
    for (unsigned byte = 0; byte < kBytes && first + byte < scales.size(); ++byte)
      word = ir.CreateInsertElement(word, scales[first + byte], uint64_t{byte});
    word = ir.CreateBitCast(word, ir.getInt32Ty());
  }
  to.scales = word;
  to.scaleByte = index % kBytes;
}

MatrixOperand MatrixFactor::at(Coordinates corner, unsigned step) {
  corner[form.across()] %= elements.extent(form.across());
  corner[form.alongK()] = 0;
  llvm::Value *&known = words[elements.registerOf(corner)];
  if (!known)
    known = makeElements(corner, step);
  MatrixOperand operand = {.elements = known, .format = form.format};
  if (form.scales)
    addScale(corner, step, operand);
  return operand;
}
