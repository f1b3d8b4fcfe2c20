// Converts layouts in two steps where one step, with what else is live, needs more shared memory than a CTA has.
//
//   %y = ttg.convert_layout %x : #a -> #b   ->   %m = ttg.convert_layout %x : #a -> #between
//                                                %y = ttg.convert_layout %m : #between -> #b
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/layout/Conversion.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_SPLITCONVERSIONS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

static unsigned conversionBytes(const LinearLayout &from, const LinearLayout &to, Type element) {
  return layout::planConversion(from, to, analysis::memoryBits(element)).sharedBytes();
}

static bool split(ConvertLayoutOp op) {
  auto from = cast<RankedTensorType>(op.getSrc().getType()), to = cast<RankedTensorType>(op.getType());
  const LinearLayout &source = linearLayoutOf(from), &result = linearLayoutOf(to);
  const unsigned bytes = conversionBytes(source, result, from.getElementType());
  const LinearLayout intermediate = layout::intermediateLayout(source, result);
  if (std::max(conversionBytes(source, intermediate, from.getElementType()),
               conversionBytes(intermediate, result, from.getElementType())) >= bytes)
    return false; // kernels that do not fit are reported at load time
  OpBuilder builder(op);
  const RankedTensorType type = from.cloneWithEncoding(encodingFor(op.getContext(), intermediate, from.getShape()));
  Value middle = ConvertLayoutOp::create(builder, op.getLoc(), type, op.getSrc());
  op.getSrcMutable().assign(middle);
  return true;
}

namespace {
struct SplitConversions : ttg::impl::SplitConversionsBase<SplitConversions> {
  using SplitConversionsBase::SplitConversionsBase;

  uint64_t usedBytes() { return analysis::planSharedMemory(getOperation()).bytes; }

  /// Joins those again without which no more memory is needed, the smallest first; returns how many stay split.
  unsigned keepUseful(ArrayRef<ConvertLayoutOp> done) {
    unsigned numUseful = 0;
    const uint64_t limit = std::max<uint64_t>(done.empty() ? 0 : usedBytes(), maxBytes);
    for (ConvertLayoutOp op : llvm::reverse(done)) {
      auto first = op.getSrc().getDefiningOp<ConvertLayoutOp>();
      op.getSrcMutable().assign(first.getSrc());
      first->remove();
      if (usedBytes() <= limit) {
        first->destroy();
        continue;
      }
      op->getBlock()->getOperations().insert(Block::iterator(op), first);
      op.getSrcMutable().assign(first);
      ++numUseful;
    }
    return numUseful;
  }

  void runOnOperation() final {
    SmallVector<ConvertLayoutOp> conversions;
    getOperation().walk([&](ConvertLayoutOp op) {
      if (analysis::scratchBytes(op))
        conversions.push_back(op);
    });
    // The largest first: it may be the only one that has to be split.
    llvm::stable_sort(conversions, [](ConvertLayoutOp a, ConvertLayoutOp b) {
      return analysis::scratchBytes(a) > analysis::scratchBytes(b);
    });
    SmallVector<ConvertLayoutOp> done;
    for (ConvertLayoutOp op : conversions) {
      if (usedBytes() <= maxBytes)
        break;
      if (split(op))
        done.push_back(op);
    }
    numSplit += keepUseful(done);
  }
};
} // namespace
