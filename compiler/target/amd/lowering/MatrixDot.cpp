// Emits dots by matrix instructions (mfma, wmma).
// SPDX-License-Identifier: MIT
//
// An instruction multiplies the k that its lanes hold, whichever they are, as long as both operands have the same: so
// it takes a lane's elements along k in the order of its registers. All tiles of the result take one step along k
// before the next: operands that come from shared memory are read for one step, which keeps few registers.
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/target/amd/dialect/MatrixInstruction.h"
#include "compiler/target/amd/lowering/AmdEmitter.h"
#include "compiler/target/amd/lowering/MatrixFactor.h"

#include "mlir/IR/Matchers.h"
#include "llvm/IR/IntrinsicsAMDGPU.h"

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
  case MatrixKind::Mx:
    return element;
  }
  llvm_unreachable("all kinds are listed");
}

static Type elementOf(Value tile) { return tt::elementOf(tile.getType()); }

namespace {

class MatrixDotEmitter {
public:
  MatrixDotEmitter(TtgFunctionEmitter &emitter, tt::DotOpInterface op, layout::AmdMatrixTile tile,
                   MatrixInstruction instruction, const FactorForm &left, const FactorForm &right, const Arch &arch)
      : emitter(emitter), ir(emitter.ir), op(op), tile(tile), instruction(instruction), arch(arch),
        result(cast<RankedTensorType>(op.getD().getType())), row(result.coordinates(0).size() - 2), column(row + 1),
        left(emitter, left, tile), right(emitter, right, tile),
        numSteps(llvm::divideCeil(this->left.elementsOfLane(), left.perLane)) {}

  /// Adds the dot to `accumulators`.
  void run(Tile &accumulators);

private:
  using Coordinates = LinearLayout::Coordinates;

  SmallVector<Coordinates> corners() const;
  unsigned registersOfDot();
  void zeroAtDot(Tile &accumulators);
  void multiply(const Coordinates &corner, unsigned step, Tile &accumulators);

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::DotOpInterface op;
  const layout::AmdMatrixTile tile;
  const MatrixInstruction instruction;
  const Arch &arch;
  RegisterMap result;
  unsigned row, column;
  MatrixFactor left, right;
  unsigned numSteps; ///< along k
};

} // namespace

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
  MatrixOperands one = {.a = left.at(corner, step), .b = right.at(corner, step)};
  // A transposed accumulator is the product of the transposed operands.
  if (tile.isTransposed)
    std::swap(one.a, one.b);
  fragment = multiplyMatrices(ir, instruction, arch, one, fragment);
  for (auto [index, value] : llvm::zip_equal(indices, fragment))
    accumulators[index] = value;
}

/// The first elements of the tiles of the result that a wave holds. The operand of which a wave holds fewer tiles
/// varies faster: its tiles stay in registers for a step, those of the other are needed one after the other.
SmallVector<LinearLayout::Coordinates> MatrixDotEmitter::corners() const {
  SmallVector<Coordinates> distinct;
  llvm::DenseSet<unsigned> known;
  for (unsigned index = 0; index < result.size(); ++index) {
    Coordinates corner = result.coordinates(index);
    corner[row] -= corner[row] % tile.extent;
    corner[column] -= corner[column] % tile.extent;
    if (known.insert(result.at(corner)).second)
      distinct.push_back(corner);
  }
  auto countOf = [&](unsigned dim) {
    llvm::DenseSet<int64_t> values;
    for (const Coordinates &corner : distinct)
      values.insert(corner[dim]);
    return values.size();
  };
  const unsigned slow = countOf(row) < countOf(column) ? column : row;
  llvm::stable_sort(distinct, [&](const Coordinates &a, const Coordinates &b) { return a[slow] < b[slow]; });
  return distinct;
}

/// 32-bit registers of a lane that the result and the operands of all steps take.
unsigned MatrixDotEmitter::registersOfDot() {
  unsigned total = 0;
  for (Value tile : {Value(op.getD()), Value(op.getA()), Value(op.getB())})
    total += analysis::registersOf(tile.getType());
  return total;
}

/// Keeps LLVM from setting accumulators that begin as zero before the loop, and copying them in it.
void MatrixDotEmitter::zeroAtDot(Tile &accumulators) {
  llvm::Type *element = accumulators.front()->getType();
  if (!element->isFloatTy() && !element->isIntegerTy(32))
    return;
  llvm::Value *zero = nullptr;
  for (llvm::Value *&accumulator : accumulators) {
    auto *constant = llvm::dyn_cast<llvm::Constant>(accumulator);
    if (!constant || !constant->isNullValue())
      continue;
    if (!zero)
      zero = ir.CreateBitCast(emitter.target.rematerialised(ir, ir.getInt32(0)), element);
    accumulator = zero;
  }
}

void MatrixDotEmitter::run(Tile &accumulators) {
  const SmallVector<Coordinates> tiles = corners();
  const bool isTight = registersOfDot() > arch.numRegisters / 2;
  if (isTight) {
    left.computeAtSteps();
    right.computeAtSteps();
  }
  for (unsigned step = 0; step < numSteps; ++step) {
    // LLVM's scheduler would move reads of many steps to the front, also where they take more registers than there are.
    if (isTight) {
      ir.CreateIntrinsic(llvm::Intrinsic::amdgcn_sched_barrier, {}, {ir.getInt32(0)});
      left.rematerialiseAddresses();
      right.rematerialiseAddresses();
      if (step == 0)
        zeroAtDot(accumulators);
    }
    for (const Coordinates &corner : tiles)
      multiply(corner, step, accumulators);
    left.endStep();
    right.endStep();
  }
}

//--- forms ---------------------------------------------------------------------------------

static tt::ScaleDotElemType formatOf(Type element) {
  return tt::isE4m3(element) ? tt::ScaleDotElemType::E4M3 : tt::ScaleDotElemType::E5M2;
}

static FactorForm factorOf(tt::DotOp op, unsigned operand, const MatrixInstruction &instruction) {
  Value tile = operand == 0 ? op.getA() : op.getB();
  return {.tile = tile,
          .wide = operandType(instruction.kind, elementOf(tile)),
          .format = formatOf(elementOf(tile)),
          .operand = operand,
          .perLane = instruction.perLane};
}

static FactorForm factorOf(tt::DotScaledOp op, unsigned operand, const MatrixInstruction &instruction) {
  Value tile = operand == 0 ? op.getA() : op.getB();
  const tt::ScaleDotElemType format = operand == 0 ? op.getAElemType() : op.getBElemType();
  return {.tile = tile,
          .wide = elementOf(tile),
          .format = format,
          .scales = operand == 0 ? op.getAScale() : op.getBScale(),
          .operand = operand,
          .perLane = instruction.perLane / (format == tt::ScaleDotElemType::E2M1 ? 2 : 1)};
}

/// Whether all scales are one number, wherever lanes hold them.
static bool isUniform(Value scales) {
  SplatElementsAttr constant;
  return !scales || matchPattern(scales, m_Constant(&constant)) || scales.getDefiningOp<tt::SplatOp>();
}

/// The order along k of scaled operands is the instruction's own; scales are in the lanes that it takes them from. With
/// one scale for all any order will do that both operands have.
static bool areLayoutsOfScaled(ttg::AmdMfmaAttr mfma, ArrayRef<FactorForm> factors) {
  auto valuesOf = [](const FactorForm &factor) {
    return factor.kWidth * (factor.format == tt::ScaleDotElemType::E2M1 ? 2 : 1);
  };
  if (llvm::all_of(factors, [](const FactorForm &factor) { return isUniform(factor.scales); }) &&
      valuesOf(factors[0]) == valuesOf(factors[1]))
    return true;
  auto lanesOf = [](const LinearLayout &layout) {
    return layout.sublayout({layout::kLane, layout::kWarp}, layout.outputNames());
  };
  return llvm::all_of(factors, [&](const FactorForm &factor) {
    if (!factor.scales)
      return factor.kWidth == kMxWidth;
    auto type = cast<RankedTensorType>(factor.scales.getType());
    return factor.kWidth == kMxWidth &&
           lanesOf(ttg::linearLayoutOf(type)) == lanesOf(mfma.scaleLayout(factor.operand, type.getShape()));
  });
}

template <typename Dot> static LogicalResult emitByInstructions(TtgFunctionEmitter &emitter, Dot op, MatrixKind kind) {
  const auto &target = static_cast<const AmdEmitter &>(emitter.target);
  const ttg::LayoutEncoding encoding = ttg::encodingOf(op.getType());
  auto mfma = dyn_cast<ttg::AmdMfmaAttr>(encoding);
  const layout::AmdMatrixTile tile = mfma ? mfma.getTile() : cast<ttg::AmdWmmaAttr>(encoding).getTile();
  const std::optional<MatrixInstruction> instruction =
      matrixInstruction(target.arch, kind, tile.extent, depthOf(op), mfma ? mfma.getInstrDepth() : 0);
  if (!instruction)
    return op.emitError() << "has no matrix instruction for its layout";
  FactorForm factors[] = {factorOf(op, 0, *instruction), factorOf(op, 1, *instruction)};
  for (FactorForm &factor : factors) {
    auto operand = dyn_cast<ttg::DotOperandAttr>(ttg::encodingOf(factor.tile.getType()));
    if (!operand)
      return op.emitError() << "has no matrix instruction for its layout";
    factor.kWidth = operand.getKWidth();
  }
  if (kind == MatrixKind::Mx && !areLayoutsOfScaled(mfma, factors)) // k of dots without scales may be in any order
    return op.emitError() << "has operands or scales in other lanes than the instruction takes them from";
  accumulateDot(emitter, cast<tt::DotOpInterface>(op.getOperation()), [&](Type, Tile &accumulators) {
    MatrixDotEmitter(emitter, op, tile, *instruction, factors[0], factors[1], target.arch).run(accumulators);
  });
  return success();
}

static LogicalResult emitMatrixDot(TtgFunctionEmitter &emitter, tt::DotOp op) {
  const std::optional<MatrixKind> kind = matrixKindOf(op, static_cast<const AmdEmitter &>(emitter.target).arch);
  const ttg::LayoutEncoding encoding = ttg::encodingOf(op.getType());
  if (!isa<ttg::AmdMfmaAttr, ttg::AmdWmmaAttr>(encoding) || !kind)
    return emitFmaDot(emitter, op);
  return emitByInstructions(emitter, op, *kind);
}

static LogicalResult emitScaledMatrixDot(TtgFunctionEmitter &emitter, tt::DotScaledOp op) {
  const std::optional<MatrixKind> kind = matrixKindOf(op, static_cast<const AmdEmitter &>(emitter.target).arch);
  if (!isa<ttg::AmdMfmaAttr>(ttg::encodingOf(op.getType())) || !kind)
    return op.emitError() << "has no matrix instruction for its formats and layout";
  return emitByInstructions(emitter, op, *kind);
}

void amd::addMatrixDotEmitters(OpEmitters &table) {
  table.add<emitMatrixDot, tt::DotOp>();
  table.add<emitScaledMatrixDot, tt::DotScaledOp>();
}
