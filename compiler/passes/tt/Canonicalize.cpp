// Runs every canonicalization pattern, with locations of bounded length.
// SPDX-License-Identifier: MIT
//
// `(x + 1) + 1` becomes `x + 2` with the locations of both additions. Of a chain of n additions each step makes such a
// location, one longer than the last; a context keeps all of them. The first locations are those of the ops that are
// replaced last, which diagnostics and debug lines are about.
#include "compiler/passes/tt/Passes.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace nereid::tt {
#define GEN_PASS_DEF_CANONICALIZE
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;

namespace {
constexpr size_t kMostLocations = 8;

/// Shortens the location of every op that a pattern makes.
struct LocationBound : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) final {
    auto fused = dyn_cast<FusedLoc>(op->getLoc());
    if (!fused || fused.getLocations().size() <= kMostLocations)
      return;
    op->setLoc(FusedLoc::get(op->getContext(), fused.getLocations().take_front(kMostLocations), fused.getMetadata()));
    ++shortened;
  }
  unsigned shortened = 0;
};

struct Canonicalize : nereid::tt::impl::CanonicalizeBase<Canonicalize> {
  LogicalResult initialize(MLIRContext *context) final {
    RewritePatternSet canonicalizations(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(canonicalizations);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(canonicalizations, context);
    patterns = std::make_shared<FrozenRewritePatternSet>(std::move(canonicalizations));
    return success();
  }

  void runOnOperation() final {
    LocationBound bound;
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal();
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Normal);
    config.setListener(&bound);
    (void)applyPatternsGreedily(getOperation(), *patterns, config); // stops after some rounds, as MLIR's own pass does
    numShortened += bound.shortened;
  }

private:
  std::shared_ptr<const FrozenRewritePatternSet> patterns;
};
} // namespace
