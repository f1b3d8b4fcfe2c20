// Gives every tile of a `tt` module a layout over the threads of a CTA.
//
//   %p = tt.addptr ... : tensor<1024x!tt.ptr<f32>>        tensor<1024x!tt.ptr<f32>, #blocked>
//   %x = tt.load %p : tensor<1024x!tt.ptr<f32>>      ->   %x = tt.load %p : tensor<1024x!tt.ptr<f32>, #blocked>
//   %y = arith.addf %x, %x : tensor<1024xf32>             %y = arith.addf %x, %x : tensor<1024xf32, #blocked>
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/ApplyLayouts.h"
#include "compiler/passes/ttg/ChooseLayouts.h"
#include "compiler/passes/ttg/DotLayouts.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/MathExtras.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_ASSIGNLAYOUTS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

/// Distributes elements one by one over lanes and warps, from the last dimension on; the layout of tiles in function
/// signatures.
static LayoutEncoding signatureLayout(RankedTensorType tile, ThreadCounts threads) {
  const unsigned rank = tile.getRank();
  const SmallVector<unsigned> order = llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank)));
  return defaultBlocked(tile.getContext(), tile.getShape(), SmallVector<unsigned>(rank, 1), order, threads.numWarps,
                        threads.threadsPerWarp);
}

/// Vectors of 16 bytes along rows.
static LayoutEncoding rowVectors(RankedTensorType tile, ThreadCounts threads) {
  const int64_t bits = analysis::memoryBits(tile.getElementType());
  const int64_t perThread = std::max<int64_t>(1, tile.getNumElements() / (threads.numWarps * threads.threadsPerWarp));
  const unsigned elems = std::min({analysis::kWidestAccessBytes * 8 / bits, perThread, tile.getDimSize(1)});
  return defaultBlocked(tile.getContext(), tile.getShape(), {1, elems}, {1, 0}, threads.numWarps,
                        threads.threadsPerWarp);
}

namespace {
struct AssignLayouts : ttg::impl::AssignLayoutsBase<AssignLayouts> {
  using AssignLayoutsBase::AssignLayoutsBase;

  LogicalResult checkOptions() {
    if (!llvm::isPowerOf2_32(numWarps) || numWarps > 32)
      return getOperation().emitError("num_warps is ") << numWarps << "; it must be a power of two up to 32";
    if (!llvm::isPowerOf2_32(threadsPerWarp) || threadsPerWarp > 64)
      return getOperation().emitError("threads per warp are ") << threadsPerWarp << "; they must be 32 or 64";
    if (target.empty() && !getOperation()->hasAttr(kTarget))
      return getOperation().emitError("has no target; name it by the pass's option `target` or the attribute `")
             << kTarget << "`";
    return success();
  }

  void setModuleAttributes() {
    OpBuilder builder(&getContext());
    Operation *module = getOperation();
    module->setAttr(kNumCtas, builder.getI32IntegerAttr(numCtas));
    module->setAttr(kNumWarps, builder.getI32IntegerAttr(numWarps));
    if (!target.empty())
      module->setAttr(kTarget, builder.getStringAttr(target));
    module->setAttr(kThreadsPerWarp, builder.getI32IntegerAttr(threadsPerWarp));
    if (hasVectorAtomics)
      module->setAttr(analysis::kVectorAtomics, builder.getUnitAttr());
  }

  LogicalResult assign(tt::FuncOp function) {
    const ThreadCounts threads{numWarps, threadsPerWarp};
    auto inSignature = [&](RankedTensorType tile) { return signatureLayout(tile, threads); };
    const MmaFeatures features = {hasWarpMma, hasWarpGroupMma, maxSharedBytes};
    auto ofDot = [&](tt::DotOpInterface dot) { return accumulatorLayout(dot, features, threads); };
    auto ofCopy = [&](RankedTensorType tile) { return rowVectors(tile, threads); };
    FailureOr<LayoutClasses> classes = LayoutClasses::build(function, inSignature, ofDot, ofCopy);
    if (failed(classes))
      return failure();
    const index::AxisInfoAnalysis axes(function);
    applyLayouts(function, *classes, chooseLayouts(*classes, axes, threads, matrixAccessesOf(function), &getContext()),
                 inSignature);
    function.walk([&](ConvertLayoutOp) { ++numConversions; });
    return success();
  }

  void runOnOperation() final {
    if (failed(checkOptions()))
      return signalPassFailure();
    setModuleAttributes();
    for (auto function : getOperation().getOps<tt::FuncOp>())
      if (failed(assign(function)))
        return signalPassFailure();
  }
};
} // namespace
