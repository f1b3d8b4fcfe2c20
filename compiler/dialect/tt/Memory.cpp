// Verifies, canonicalizes and pads pointer arithmetic, loads and stores.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/PaddedTiles.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace nereid::tt;

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPtr();
  return {};
}

//--- load ----------------------------------------------------------------------------------

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) // C3
    return emitOpError("`other` is given without `mask`");
  return success();
}

void LoadOp::getEffects(SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  // Volatile and uncached loads must all execute: a loop may poll a value.
  if (getIsVolatile() || getCache() == CacheModifier::CV)
    effects.emplace_back(MemoryEffects::Write::get());
}

namespace {
/// load(p, true, other) -> load(p); load(p, false, other) -> other.
struct LoadWithConstantMask : OpRewritePattern<LoadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LoadOp load, PatternRewriter &rewriter) const final {
    if (!load.getMask() || load.getIsVolatile())
      return failure();
    if (matchPattern(load.getMask(), m_One())) {
      rewriter.replaceOpWithNewOp<LoadOp>(load, load.getType(), load.getPtr(), Value(), Value(), load.getCache(),
                                          load.getEvict(), load.getIsVolatile());
      return success();
    }
    if (!matchPattern(load.getMask(), m_Zero()) || !load.getOther())
      return failure();
    rewriter.replaceOp(load, load.getOther());
    return success();
  }
};

/// store(p, v, true) -> store(p, v); store(p, v, false) is erased.
struct StoreWithConstantMask : OpRewritePattern<StoreOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(StoreOp store, PatternRewriter &rewriter) const final {
    if (!store.getMask())
      return failure();
    if (matchPattern(store.getMask(), m_Zero())) {
      rewriter.eraseOp(store);
      return success();
    }
    if (!matchPattern(store.getMask(), m_One()))
      return failure();
    rewriter.replaceOpWithNewOp<StoreOp>(store, store.getPtr(), store.getValue(), Value(), store.getCache(),
                                         store.getEvict());
    return success();
  }
};
} // namespace

void LoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<LoadWithConstantMask>(context);
}

//--- store ---------------------------------------------------------------------------------

void StoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<StoreWithConstantMask>(context);
}

//--- padding -------------------------------------------------------------------------------

void LoadOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  maskPadding(*this, getMaskMutable(), operands.front());
}

void StoreOp::excludePadding(ArrayRef<Extents> operands, ArrayRef<Extents>) {
  maskPadding(*this, getMaskMutable(), operands.front());
}
