// Layouts that follow from that of an operand of AMD's matrix instructions: of its scales, and padded ones in LDS.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/TypeName.h"
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/layout/Distributed.h"
#include "compiler/sema/gluon/Layouts.h"

#include "llvm/Support/MathExtras.h"

namespace nereid::sema {
namespace {

using layout::LinearLayout;
using tt::shapeText;

/// A wave's load to LDS fills so many adjacent bytes: 64 lanes of 16.
constexpr unsigned kWaveBytes = 1024;

/// The bits of an operand's coordinates in the order of its offsets.
struct OffsetOrder {
  llvm::SmallVector<LinearLayout::Coordinates> bases;
  llvm::SmallVector<std::pair<unsigned, int64_t>> left; ///< bits that have no place yet: dimension, step
  unsigned rank;

  OffsetOrder(llvm::ArrayRef<int64_t> shape) : rank(shape.size()) {
    for (auto [dim, extent] : llvm::enumerate(shape))
      for (int64_t step = 1; step < extent; step *= 2)
        left.push_back({unsigned(dim), step});
  }
  int64_t size() const { return int64_t{1} << bases.size(); }
  bool place(unsigned dim, int64_t step) {
    const auto *found = llvm::find(left, std::pair(dim, step));
    if (found == left.end())
      return false;
    left.erase(found);
    bases.emplace_back(rank, 0)[dim] = int32_t(step);
    return true;
  }
};

/// What a wave fills has rows that are 16 apart. The rows that 16 lanes read at a time, which are adjacent, are in as
/// many of these parts, each moved on by the gaps before it.
OffsetOrder orderOf(llvm::ArrayRef<int64_t> shape, unsigned columns, unsigned rows, int64_t perWave) {
  constexpr int64_t readTogether = 16;
  OffsetOrder order(shape);
  for (int64_t step = 1; step < shape[columns] && order.size() < perWave; step *= 2)
    order.place(columns, step);
  for (int64_t step = shape[rows] / 2; step >= readTogether && order.size() < perWave; step /= 2)
    order.place(rows, step);
  for (int64_t step = 1; step < readTogether; step *= 2)
    order.place(rows, step);
  for (unsigned dim : {rows, columns})
    for (int64_t step = 1; step < shape[dim]; step *= 2)
      order.place(dim, step);
  while (!order.left.empty()) // of a batch
    order.place(order.left.front().first, order.left.front().second);
  return order;
}

/// The operand of an accumulator of mfma that a value is the layout of; null after an error.
ttg::DotOperandAttr operandOfMfma(mlir::MLIRContext *context, const Value &layout, LayoutError error) {
  auto operand = llvm::dyn_cast_or_null<ttg::DotOperandAttr>(layoutClassOf(layout) ? encodingOf(context, layout, error)
                                                                                   : mlir::Attribute());
  if (operand && llvm::isa<ttg::AmdMfmaAttr>(operand.getParent()))
    return operand;
  error("expected a DotOperandLayout of an AMDMFMALayout, got " + layout.repr());
  return {};
}

bool fitsShape(ttg::AmdMfmaAttr mfma, llvm::ArrayRef<int64_t> shape, LayoutError error) {
  if (shape.size() == mfma.getRank() && llvm::all_of(shape, [](int64_t extent) { return llvm::isPowerOf2_64(extent); }))
    return true;
  error("a shape of " + std::to_string(mfma.getRank()) + " powers of two is needed, got " + shapeText(shape));
  return false;
}

} // namespace

Value amdScaleLayout(mlir::MLIRContext *context, const Value &operandLayout, llvm::ArrayRef<int64_t> shape,
                     int64_t factor, LayoutError error) {
  auto operand = operandOfMfma(context, operandLayout, error);
  if (!operand)
    return Value::poison();
  auto mfma = llvm::cast<ttg::AmdMfmaAttr>(operand.getParent());
  if (factor != 32)
    error("scale_factor must be 32 on gfx950, got " + std::to_string(factor));
  if (factor != 32 || !fitsShape(mfma, shape, error))
    return Value::poison();
  return layoutValue(ttg::LinearAttr::get(context, mfma.scaleLayout(operand.getOpIdx(), shape)));
}

Value amdPaddedLayout(mlir::MLIRContext *context, const Value &operandLayout, llvm::ArrayRef<int64_t> shape,
                      unsigned bits, bool isKContiguous, LayoutError error) {
  auto operand = operandOfMfma(context, operandLayout, error);
  if (!operand)
    return Value::poison();
  auto mfma = llvm::cast<ttg::AmdMfmaAttr>(operand.getParent());
  if (mfma.getVersion() != 4)
    error("an AMDMFMALayout of version 4 is needed, got " + layoutText(mfma));
  if (mfma.getVersion() != 4 || !fitsShape(mfma, shape, error))
    return Value::poison();
  if ((bits != 8 && bits != 16) || !llvm::is_contained({4u, 8u, 16u}, operand.getKWidth()))
    return Value();
  const unsigned rank = shape.size(), k = operand.getOpIdx() == 0 ? rank - 1 : rank - 2, other = 2 * rank - 3 - k;
  const unsigned bytes = bits / 8;
  const int64_t perWave = kWaveBytes / bytes;
  const OffsetOrder order = orderOf(shape, isKContiguous ? k : other, isKContiguous ? other : k, perWave);
  if (order.size() < perWave)
    return Value();
  std::vector<LinearLayout::Input> inputs = {{layout::kOffset.str(), {order.bases.begin(), order.bases.end()}},
                                             {layout::kBlock.str(), {}}};
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, extent] : llvm::enumerate(shape))
    outputs.push_back({layout::dimName(dim), int32_t(extent)});
  // Lanes read vectors of 16 bytes along k; else they read single elements of adjacent columns, of four rows.
  const unsigned gap = (isKContiguous ? 16 : 64) / bytes;
  return layoutValue(
      ttg::PaddedSharedAttr::get(context, {unsigned(perWave)}, {gap}, LinearLayout::fromBases(inputs, outputs)));
}

} // namespace nereid::sema
