// Asks the target for the layouts of dots; gives dots without matrix instructions blocks of elements.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

int64_t ttg::bytesOfOperands(tt::DotOpInterface dot) {
  int64_t bytes = 0;
  for (Value operand : {dot.getA(), dot.getB()})
    bytes += tt::tileBytes(cast<RankedTensorType>(operand.getType()));
  return bytes;
}

bool ttg::isChained(tt::DotOpInterface dot) {
  SetVector<Operation *> after, before;
  getForwardSlice(dot.getOperation(), &after);
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(dot.getOperation(), &before, options);
  auto isOther = [&](Operation *op) { return op != dot.getOperation() && isa<tt::DotOpInterface>(op); };
  return llvm::any_of(after, isOther) || llvm::any_of(before, isOther);
}

bool ttg::isComputedFromDot(Value tile) {
  SetVector<Operation *> before;
  BackwardSliceOptions options;
  options.omitBlockArguments = options.inclusive = true;
  options.filter = [](Operation *op) { return !isa<tt::LoadOp, AsyncTileLoad>(op); };
  (void)getBackwardSlice(tile, &before, options);
  return llvm::any_of(before, llvm::IsaPred<tt::DotOpInterface>);
}

SmallVector<unsigned> ttg::spreadWarps(tt::DotOpInterface dot, unsigned numWarps, unsigned rows, unsigned columns) {
  ArrayRef<int64_t> shape = tt::shapeOf(dot.getD().getType());
  const unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  const bool alongRows = isChained(dot);
  SmallVector<unsigned> warps(rank, 1);
  SmallVector<int64_t> left(shape); // in instructions
  left[row] /= rows;
  left[column] /= columns;
  for (; numWarps > 1; numWarps /= 2) {
    unsigned dim = row;
    if (rank == 3 && left[0] > 1)
      dim = 0; // dots of a batch share no operands
    else if (left[row] <= 1 ? left[column] > 1 : !alongRows && left[column] * columns > left[row] * rows)
      dim = column;
    warps[dim] *= 2;
    left[dim] /= 2;
  }
  return warps;
}

/// Distributes `count` threads or warps over a tile of `rows` by `columns` vectors such that each gets about as many
/// rows as columns, which minimises the operands it reads. Threads or warps without work hold copies.
static std::pair<unsigned, unsigned> spreadEvenly(int64_t rows, int64_t columns, unsigned count) {
  unsigned alongRows = 1, alongColumns = 1;
  while (alongRows * alongColumns < count) {
    const bool wider = columns / alongColumns >= rows / alongRows;
    (wider ? alongColumns : alongRows) *= 2;
  }
  return {alongRows, alongColumns};
}

/// Blocks of four by four elements of the result, where each thread has that many.
static LayoutEncoding blockOfElements(tt::DotOpInterface dot, ThreadCounts threads) {
  auto result = cast<RankedTensorType>(dot.getD().getType());
  ArrayRef<int64_t> shape = result.getShape();
  const unsigned rank = shape.size(), row = rank - 2, column = rank - 1;
  const int64_t perThread = result.getNumElements() / (threads.numWarps * threads.threadsPerWarp);
  SmallVector<unsigned> size(rank, 1), lanes(rank, 1), warps(rank, 1);
  size[column] = std::min<int64_t>(shape[column], perThread >= 4 ? 4 : 1);
  size[row] = std::min<int64_t>(shape[row], perThread >= 16 ? 4 : 1);
  unsigned numWarps = threads.numWarps;
  for (unsigned dim = 0; dim < row; ++dim) {
    warps[dim] = std::min<int64_t>(shape[dim], numWarps);
    numWarps /= warps[dim];
  }
  const int64_t rows = shape[row] / size[row], columns = shape[column] / size[column];
  std::tie(lanes[row], lanes[column]) = spreadEvenly(rows, columns, threads.threadsPerWarp);
  std::tie(warps[row], warps[column]) =
      spreadEvenly(std::max<int64_t>(1, rows / lanes[row]), std::max<int64_t>(1, columns / lanes[column]), numWarps);
  return BlockedAttr::get(dot.getContext(), size, lanes, warps,
                          llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank))));
}

LayoutEncoding ttg::accumulatorLayout(tt::DotOpInterface dot, const MmaFeatures &features, ThreadCounts threads) {
  const TargetInterface *target = targetInterfaceOf(dot);
  LayoutEncoding layout = target ? target->dotLayout(dot, features, threads) : LayoutEncoding();
  return layout ? layout : blockOfElements(dot, threads);
}

LayoutEncoding ttg::operandLayout(tt::DotOpInterface dot, unsigned operand, LayoutEncoding accumulator) {
  if (isMatrixInstruction(accumulator)) {
    const TargetInterface *target = targetInterfaceOf(dot);
    assert(target && "layouts of matrix instructions come from a target");
    return target->operandLayout(dot, operand, accumulator);
  }
  return DotOperandAttr::get(dot.getContext(), operand, accumulator, 0);
}
