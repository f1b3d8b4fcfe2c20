// Plans conversions through shared memory where one side's accesses are ldmatrix or stmatrix.
// SPDX-License-Identifier: MIT
//
// A row of a matrix is a vector of 16 bytes that four lanes hold together, or eight in a transposed one. The buffer is
// planned for a layout whose lanes address rows: directions of a row, which these lanes hold, become registers, and the
// directions that select the row and its matrix become lanes. So both sides access vectors of 16 bytes without
// conflicts.
#include "compiler/layout/Conversion.h"
#include "compiler/layout/SharedAccessPlan.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace nereid;
using namespace nereid::layout;

static constexpr unsigned kLaneWordBytes = 4, kWarpLaneBits = 5;

namespace {
/// The directions of a side whose accesses are matrices.
struct MatrixThreads {
  BitColumns row;       ///< of the elements in a row
  BitColumns lanes;     ///< of the rows and matrices that lanes address
  BitColumns registers; ///< the other directions
};
} // namespace

/// Matrices as rows of elements of lanes 0 to 3, or, transposed, of lanes 0, 4, 8 to 28. The other side has the
/// directions `reachable` in registers.
static std::optional<MatrixThreads> matrixThreads(const LinearLayout &side, const BitSpan &reachable, MatrixForm form,
                                                  unsigned elemBytes) {
  const BitColumnsRef registers = side.columns(kRegister), lanes = side.columns(kLane);
  MatrixThreads threads;
  BitColumns others;
  const unsigned wordBits = form == MatrixForm::Rows ? llvm::Log2_32(kLaneWordBytes / elemBytes) : 0;
  for (BitVector reg : registers)
    (threads.row.size() < wordBits && reachable.contains(reg) ? threads.row : others).push_back(reg);
  if (threads.row.size() < wordBits)
    return std::nullopt;
  if (form == MatrixForm::Rows) {
    threads.row.append(lanes.begin(), lanes.begin() + 2);
    threads.lanes.append(lanes.begin() + 2, lanes.end());
  } else {
    if (elemBytes != 2 || others.empty() || others.front() != registers.front())
      return std::nullopt;
    threads.row.append(lanes.begin() + 2, lanes.end());
    threads.lanes = {registers.front(), lanes[0], lanes[1]};
    others.erase(others.begin());
  }
  if (!llvm::all_of(threads.row, [&](BitVector direction) { return reachable.contains(direction); }))
    return std::nullopt;
  const size_t matrixBits = std::min<size_t>(2, others.size());
  threads.lanes.append(others.begin(), others.begin() + matrixBits);
  threads.registers.append(others.begin() + matrixBits, others.end());
  return threads;
}

static LinearLayout::Input inputOf(llvm::StringRef name, BitColumnsRef columns) {
  LinearLayout::Input input{name.str(), {}};
  for (BitVector column : columns)
    input.bases.push_back({int32_t(column)});
  return input;
}

/// The layout for which the buffer is planned.
static LinearLayout layoutOfRows(const LinearLayout &side, const MatrixThreads &threads) {
  BitColumns registers = threads.row;
  registers.append(threads.registers);
  LinearLayout::Input inputs[] = {inputOf(kRegister, registers), inputOf(kLane, threads.lanes),
                                  inputOf(kWarp, side.columns(kWarp)), inputOf(kBlock, {})};
  const int32_t size = int32_t(1) << side.totalOutBits();
  llvm::SmallVector<LinearLayout::Named, 4> shape;
  for (llvm::StringRef out : side.outputNames())
    shape.push_back({out, side.outSize(out)});
  return LinearLayout::fromBases(inputs, {{"tile", size}}).reshapeOuts(shape);
}

/// The offsets of the side's own registers and threads, a repetition's number above the offset in it.
static LinearLayout offsetsOf(const LinearLayout &side, const LinearLayout &rows, const LinearLayout &rowOffsets) {
  const unsigned offsetBits = rowOffsets.outBits(kOffset);
  BitColumns directions, offsets;
  for (llvm::StringRef in : {llvm::StringRef(kRegister), llvm::StringRef(kLane), llvm::StringRef(kWarp)})
    for (auto [bit, direction] : llvm::enumerate(rows.columns(in))) {
      const LinearLayout::Coordinates basis = rowOffsets.basis(in, bit);
      directions.push_back(direction);
      offsets.push_back(uint64_t(basis[0]) << offsetBits | uint64_t(basis[1]));
    }
  const BitSpan span(directions);
  llvm::SmallVector<LinearLayout::Input, 4> inputs;
  for (llvm::StringRef in : {llvm::StringRef(kRegister), llvm::StringRef(kLane), llvm::StringRef(kWarp)}) {
    BitColumns columns;
    for (BitVector direction : side.columns(in))
      columns.push_back(multiply(offsets, span.express(direction).value_or(0)));
    inputs.push_back(inputOf(in, columns));
  }
  inputs.push_back(inputOf(kBlock, {}));
  return LinearLayout::fromBases(inputs, {{kOffset.str(), int32_t(1) << side.totalOutBits()}});
}

static bool hasCopies(const LinearLayout &side) {
  return side.freeVariableMask(kRegister) || side.freeVariableMask(kLane) || side.freeVariableMask(kWarp);
}

std::optional<SharedPlan> layout::swizzleForMatrices(const LinearLayout &src, const LinearLayout &dst,
                                                     unsigned elemBits, bool isStore, MatrixForm form,
                                                     SwizzleOptions options) {
  const LinearLayout target = dst.transposeOuts(src.outputNames());
  const LinearLayout &side = isStore ? src : target, &other = isStore ? target : src;
  const unsigned elemBytes = layout::elementBytes(elemBits);
  if (elemBytes > kLaneWordBytes || side.inBits(kLane) != kWarpLaneBits || hasCopies(side))
    return std::nullopt;
  const auto threads = matrixThreads(side, BitSpan(other.columns(kRegister)), form, elemBytes);
  if (!threads)
    return std::nullopt;
  const LinearLayout rows = layoutOfRows(side, *threads);
  options.mayWidenLoads = options.mayWidenStores = false;
  options.vectorStart = threads->row;
  SharedPlan plan = isStore ? swizzle(rows, target, elemBits, options) : swizzle(src, rows, elemBits, options);
  SharedAccessPattern &pattern = isStore ? plan.store : plan.load;
  const unsigned offsetBits = pattern.offsets.outBits(kOffset);
  auto matrices = planLdStMatrix(offsetsOf(side, rows, pattern.offsets), /*copies=*/0, elemBytes);
  if (!matrices || matrices->matrix != form)
    return std::nullopt;
  for (SharedAccess &access : matrices->accesses) {
    access.repetition = access.offset >> offsetBits;
    access.offset &= (1u << offsetBits) - 1;
  }
  pattern = std::move(*matrices);
  if (!isStore) {
    plan.loadedAs.clear();
    for (int32_t reg = 0; reg < dst.inSize(kRegister); ++reg)
      plan.loadedAs.push_back(reg);
  }
  return plan;
}
