// Verifies, canonicalizes and pads print and assert.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/PaddedTiles.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nereid::tt;

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getArgs().size()) // C1
    return emitOpError("says of ") << getIsSigned().size() << " operands whether they are signed; it has "
                                   << getArgs().size();
  return success();
}

namespace {
/// Erases assert(true).
struct AssertOfTrue : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AssertOp op, PatternRewriter &rewriter) const final {
    if (!matchPattern(op.getCondition(), m_One()))
      return failure();
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void AssertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<AssertOfTrue>(context);
}

void PrintOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) { markExtents(*this, operands); }

/// The condition holds where there is no element.
void AssertOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  PaddedBuilder builder(*this);
  getConditionMutable().assign(
      builder.onlyExisting(getCondition(), operands.front(), builder.builder.getBoolAttr(true)));
}
