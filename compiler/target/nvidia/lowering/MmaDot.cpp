// Emits dots by the matrix instructions of a warp (mma).
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/lowering/TtgToLlvm/FmaDot.h"
#include "compiler/lowering/TtgToLlvm/RegisterMap.h"
#include "compiler/target/nvidia/lowering/Diagnostics.h"
#include "compiler/target/nvidia/lowering/NvidiaEmitter.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/Mma.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;
using layout::LinearLayout;

namespace {

class MmaDotEmitter {
public:
  MmaDotEmitter(TtgFunctionEmitter &emitter, tt::DotOp op)
      : emitter(emitter), ir(emitter.ir), op(op), left(cast<RankedTensorType>(op.getA().getType())),
        right(cast<RankedTensorType>(op.getB().getType())), result(cast<RankedTensorType>(op.getType())),
        row(result.coordinates(0).size() - 2), column(row + 1) {}

  /// Adds the dot to `accumulators`.
  void run(ttng::MmaKind kind, Tile &accumulators);

private:
  using Coordinates = LinearLayout::Coordinates;
  /// The terms whose sum represents an operand's word, the greatest first.
  using Terms = SmallVector<llvm::Value *, 3>;

  void multiply(const Coordinates &coordinates, int64_t k);
  Terms word(unsigned operand, Coordinates coordinates, unsigned k);
  Terms makeWord(unsigned operand, const Coordinates &coordinates, unsigned k);
  Terms termsOf(llvm::Value *value, Type element);
  llvm::Value *widen(llvm::Value *value, Type from, Type to) { return emitter.elements.convert(value, from, to); }
  unsigned numTerms();

  TtgFunctionEmitter &emitter;
  IrBuilder &ir;
  tt::DotOp op;
  RegisterMap left, right, result;
  unsigned row, column;
  ttng::MmaKind kind = ttng::MmaKind::F16;
  unsigned kWidth = 1;       ///< adjacent elements along k of a lane
  uint32_t copiesAlongK = 0; ///< lanes with one of these bits hold copies, which are counted once
  Tile accumulators;
  std::map<std::tuple<unsigned, unsigned, unsigned>, Terms> words; ///< by operand, first register and k
};

} // namespace

//--- matrix instructions -------------------------------------------------------------------

unsigned MmaDotEmitter::numTerms() {
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
MmaDotEmitter::Terms MmaDotEmitter::termsOf(llvm::Value *value, Type element) {
  MLIRContext *context = op.getContext();
  switch (kind) {
  case ttng::MmaKind::Int8:
  case ttng::MmaKind::F64:
    return {value};
  case ttng::MmaKind::F16:
    return {widen(value, element, Float16Type::get(context))};
  case ttng::MmaKind::BF16:
  case ttng::MmaKind::TF32:
    break;
  }
  Type single = Float32Type::get(context), narrow = BFloat16Type::get(context);
  // Tensor cores truncate f32 to tf32 in mma and wgmma alike; rounding here would make a warp's dot differ from a warp
  // group's.
  if (element != single || op.getInputPrecision() == tt::InputPrecision::TF32)
    return {value};
  Terms terms;
  for (unsigned term = 0; term < numTerms(); ++term) {
    llvm::Value *rounded =
        kind == ttng::MmaKind::TF32 ? instructionsOf(emitter).roundToTf32(ir, value) : widen(value, single, narrow);
    terms.push_back(rounded);
    if (term + 1 < numTerms())
      value = ir.CreateFSub(value, kind == ttng::MmaKind::TF32 ? rounded : widen(rounded, narrow, single));
  }
  return terms;
}

MmaDotEmitter::Terms MmaDotEmitter::makeWord(unsigned operand, const Coordinates &coordinates, unsigned k) {
  const RegisterMap &map = operand == 0 ? left : right;
  Value source = operand == 0 ? op.getA() : op.getB();
  const unsigned alongK = operand == 0 ? column : row, run = ttng::runAlongK(kind);
  // Wider lanes take the words of consecutive steps from one vector.
  const unsigned number = k / (layout::kMmaLanesAlongK * run), inVector = kWidth / run;
  const unsigned begin = number / inVector * layout::kMmaLanesAlongK * kWidth + number % inVector * run;
  SmallVector<Tile, 3> elements(numTerms());
  for (unsigned index = 0; index < run; ++index) {
    Coordinates at = coordinates;
    at[alongK] = begin + index;
    const Terms terms = termsOf(emitter.tile(source)[map.at(at)], tt::elementOf(source.getType()));
    for (auto [list, term] : llvm::zip_equal(elements, terms))
      list.push_back(at[alongK] < map.extent(alongK) ? term : llvm::Constant::getNullValue(term->getType()));
  }
  Terms terms;
  llvm::Type *type = kind == ttng::MmaKind::F64 ? ir.getDoubleTy() : ir.getInt32Ty();
  llvm::Value *counts = copiesAlongK ? emitter.threadHasNone(copiesAlongK, 0) : nullptr;
  for (Tile &list : elements) {
    llvm::Value *whole = list.front();
    if (run > 1) {
      whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(whole->getType(), run));
      for (auto [index, value] : llvm::enumerate(list))
        whole = ir.CreateInsertElement(whole, value, uint64_t{index});
    }
    whole = ir.CreateBitCast(whole, type);
    terms.push_back(counts ? ir.CreateSelect(counts, whole, llvm::Constant::getNullValue(type)) : whole);
  }
  return terms;
}

MmaDotEmitter::Terms MmaDotEmitter::word(unsigned operand, Coordinates coordinates, unsigned k) {
  const unsigned alongK = operand == 0 ? column : row;
  coordinates[operand == 0 ? row : column] %= (operand == 0 ? left : right).extent(operand == 0 ? row : column);
  coordinates[alongK] = 0;
  const unsigned first = (operand == 0 ? left : right).at(coordinates);
  auto [found, isNew] = words.try_emplace({operand, first, k});
  if (isNew)
    found->second = makeWord(operand, coordinates, k);
  return found->second;
}

/// Emits one tile of the result for one step along k.
void MmaDotEmitter::multiply(const Coordinates &coordinates, int64_t k) {
  const unsigned step = layout::kMmaLanesAlongK * ttng::runAlongK(kind);
  SmallVector<Terms, 4> a, b;
  for (unsigned half : {0, 1}) {
    for (unsigned rows : {0, 8}) {
      Coordinates at = coordinates;
      at[row] += rows;
      a.push_back(word(0, at, k + half * step));
    }
    b.push_back(word(1, coordinates, k + half * step));
  }
  SmallVector<unsigned, 4> indices;
  for (unsigned rows : {0, 8})
    for (unsigned columns : {0, 1}) {
      Coordinates at = coordinates;
      at[row] += rows;
      at[column] += columns;
      indices.push_back(result.at(at));
    }
  SmallVector<llvm::Value *, 4> fragment;
  for (unsigned index : indices)
    fragment.push_back(accumulators[index]);
  // Dots of small terms come first, so that they are not lost beside large ones.
  const unsigned count = numTerms();
  for (unsigned sum = count; sum-- > 0;)
    for (unsigned term = 0; term <= sum; ++term) {
      auto pick = [](ArrayRef<Terms> from, unsigned which) {
        return llvm::map_to_vector<4>(from, [&](const Terms &terms) { return terms[which]; });
      };
      fragment = instructionsOf(emitter).emitMma(ir, kind, pick(a, term), pick(b, sum - term), fragment);
    }
  for (auto [index, value] : llvm::zip_equal(indices, fragment))
    accumulators[index] = value;
}

void MmaDotEmitter::run(ttng::MmaKind kindOfOp, Tile &registers) {
  kind = kindOfOp;
  accumulators = std::move(registers);
  const unsigned run = ttng::runAlongK(kind);
  auto operand = dyn_cast<ttg::DotOperandAttr>(ttg::encodingOf(op.getA().getType()));
  kWidth = operand ? std::max(run, operand.getKWidth()) : run;
  copiesAlongK = layout::mmaLanesBeyond(kWidth, left.extent(column));
  // Where some lanes hold copies, each of the others holds more elements.
  const int64_t depth = left.extent(column) << llvm::popcount(copiesAlongK);
  for (int64_t k = 0; k < depth; k += 2 * layout::kMmaLanesAlongK * run)
    for (unsigned index = 0; index < result.size(); ++index) {
      const Coordinates coordinates = result.coordinates(index);
      if ((coordinates[column] & 1) == 0 && (coordinates[row] & 8) == 0)
        multiply(coordinates, k);
    }
  registers = std::move(accumulators);
}

/// Replaces the emitter of dots by multiply-adds where the result has the layout of a matrix instruction.
static LogicalResult emitMmaDot(TtgFunctionEmitter &emitter, tt::DotOp op) {
  const auto kind = ttng::mmaKindOf(op);
  auto instruction = dyn_cast<ttg::NvidiaMmaAttr>(ttg::encodingOf(op.getType()));
  if (instruction && instruction.isWgmma())
    return tt::report(op.getLoc(), nvidia::diag::WarpGroupOperands);
  if (!instruction || !kind)
    return emitFmaDot(emitter, op);
  accumulateDot(emitter, op, [&](Type, Tile &accumulators) { MmaDotEmitter(emitter, op).run(*kind, accumulators); });
  return success();
}

void nvidia::addMmaDotEmitters(OpEmitters &table) { table.add<emitMmaDot, tt::DotOp>(); }
