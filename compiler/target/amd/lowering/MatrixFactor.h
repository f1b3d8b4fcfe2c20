// One operand of a dot by matrix instructions: a lane's elements and scales for one instruction.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/AmdMatrix.h"
#include "compiler/lowering/TtgToLlvm/DotOperand.h"
#include "compiler/target/amd/lowering/MatrixIntrinsics.h"
#include "compiler/target/amd/lowering/SinkOperands.h"

#include <map>
#include <optional>

namespace nereid::amd {

/// What a dot says of one of its two factors.
struct FactorForm {
  mlir::Value tile;
  mlir::Type wide;               ///< of elements as they are multiplied
  tt::ScaleDotElemType format{}; ///< of floats of at most 8 bits
  mlir::Value scales;            ///< may be null
  unsigned operand = 0;          ///< 0: left, 1: right
  unsigned kWidth = 1;           ///< adjacent elements along k of a lane
  unsigned perLane = 1;          ///< elements along k of a lane in one instruction

  unsigned rank() const { return mlir::cast<mlir::RankedTensorType>(tile.getType()).getRank(); }
  unsigned alongK() const { return rank() - (operand == 0 ? 1 : 2); }
  unsigned across() const { return rank() - (operand == 0 ? 2 : 1); }
};

class MatrixFactor {
public:
  using Coordinates = layout::LinearLayout::Coordinates;

  MatrixFactor(lowering::TtgFunctionEmitter &emitter, const FactorForm &form, const layout::AmdMatrixTile &tile);

  /// Elements along k that a lane holds, copies counted once.
  unsigned elementsOfLane() const;
  /// The operand of the instruction of number `step` along k, for the tile of the result at `corner`.
  MatrixOperand at(Coordinates corner, unsigned step);
  /// Later reads of a buffer compute their addresses anew.
  void rematerialiseAddresses() { elements.rematerialiseAddresses(); }
  /// Computes elements at the step that needs them where that takes fewer registers.
  void computeAtSteps();
  /// Forgets the elements that were read for a step.
  void endStep() { words.clear(); }

private:
  llvm::Value *makeElements(const Coordinates &corner, unsigned step);
  void addScale(const Coordinates &corner, unsigned step, MatrixOperand &to);

  lowering::TtgFunctionEmitter &emitter;
  lowering::IrBuilder &ir;
  const FactorForm form;
  const layout::AmdMatrixTile tile;
  lowering::DotOperand elements;
  uint32_t copiesAlongK;                   ///< lanes with one of these bits hold copies, which are counted once
  std::optional<OperandSinker> sinker;     ///< moves elements to the step that needs them
  std::map<unsigned, llvm::Value *> words; ///< of the step, by the first register
  std::optional<lowering::RegisterMap> scaleMap;
  std::map<unsigned, llvm::Value *> scaleWords; ///< by the first of four registers of scales
};

} // namespace nereid::amd
