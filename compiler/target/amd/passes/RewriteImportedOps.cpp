// Rewrites ops for AMD's GPUs in imported TTGIR as ops of `tt` and `ttg`.
//
//   %x = amdg.buffer_load %p[%o], %m : tensor<64xf32, #b>   ->   %s = tt.splat %p, %a = tt.addptr %s, %o
//                                                                %x = tt.load %a, %m, %zero
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/amd/dialect/Dialect.h"
#include "compiler/target/amd/passes/Diagnostics.h"
#include "compiler/target/amd/passes/Passes.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nereid::amd {
#define GEN_PASS_DEF_REWRITEIMPORTEDOPS
#include "compiler/target/amd/passes/Passes.h.inc"
} // namespace nereid::amd

using namespace mlir;
using namespace nereid;

static Value addressesOf(OpBuilder &builder, Location loc, Value pointer, Value offsets) {
  Type type = tt::withElement(offsets.getType(), pointer.getType());
  Value splat = tt::SplatOp::create(builder, loc, type, pointer);
  return tt::AddPtrOp::create(builder, loc, type, splat, offsets);
}

/// Elements of a buffer that are masked off read as zero.
static Value loadFrom(OpBuilder &builder, Location loc, Type type, Value addresses, Value mask, Value other,
                      tt::CacheModifier cache) {
  if (mask && !other)
    other = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  return tt::LoadOp::create(builder, loc, type, addresses, mask, other, cache, tt::EvictionPolicy::NORMAL,
                            /*isVolatile=*/false);
}

static void rewrite(amdg::BufferLoadOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  op.getResult().replaceAllUsesWith(
      loadFrom(builder, op.getLoc(), op.getType(), addresses, op.getMask(), op.getOther(), op.getCache()));
  op.erase();
}

/// The copy is complete before the next op: waits for it have nothing to do.
static void rewrite(amdg::BufferLoadToLocalOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value addresses = addressesOf(builder, loc, op.getPtr(), op.getOffsets());
  Type type = tt::pointeeLike(addresses.getType());
  Value loaded = loadFrom(builder, loc, type, addresses, op.getMask(), op.getOther(), op.getCache());
  ttg::LocalStoreOp::create(builder, loc, loaded, op.getDest());
  op.getToken().replaceAllUsesWith(
      ttg::AsyncCommitGroupOp::create(builder, loc, op.getToken().getType(), ValueRange()).getToken());
  op.erase();
}

static void rewrite(amdg::BufferStoreOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  tt::StoreOp::create(builder, op.getLoc(), addresses, op.getValue(), op.getMask(), op.getCache(),
                      tt::EvictionPolicy::NORMAL);
  op.erase();
}

static void rewrite(amdg::BufferAtomicRMWOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  auto old = tt::AtomicRMWOp::create(builder, op.getLoc(), op.getType(), op.getAtomicRmwOp(), addresses, op.getValue(),
                                     op.getMask(), op.getSem(), op.getScope());
  op.getResult().replaceAllUsesWith(old.getResult());
  op.erase();
}

static void rewrite(amdg::BufferAtomicCASOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  auto old = tt::AtomicCASOp::create(builder, op.getLoc(), op.getType(), addresses, op.getCmp(), op.getVal(),
                                     op.getSem(), op.getScope());
  op.getResult().replaceAllUsesWith(old.getResult());
  op.erase();
}

static void rewrite(amdg::InThreadTransposeOp op) {
  OpBuilder builder(op);
  op.getResult().replaceAllUsesWith(ttg::ConvertLayoutOp::create(builder, op.getLoc(), op.getType(), op.getSrc()));
  op.erase();
}

/// Erases an op that nothing uses, and those before it that only it used.
static void eraseUnused(Operation *op) {
  const SmallVector<Value> operands(op->getOperands());
  op->erase();
  for (Value operand : operands)
    if (Operation *before = operand.getDefiningOp(); before && isOpTriviallyDead(before))
      eraseUnused(before);
}

static bool isHint(Operation *op) {
  return isa<amdg::InstructionSchedHintOp>(op) ||
         (isa_and_nonnull<rocdl::RocdlDialect>(op->getDialect()) && op->getNumResults() == 0);
}

static bool isThreadId(Operation *op) { return op->getName().getStringRef() == rocdl::kThreadId; }

namespace {
struct RewriteImportedOps : amd::impl::RewriteImportedOpsBase<RewriteImportedOps> {
  template <typename... Ops> void rewriteAll() {
    (getOperation()->walk([](Ops op) { rewrite(op); }), ...);
  }
  template <typename Matcher> SmallVector<Operation *> opsThat(Matcher matches) {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (matches(op))
        ops.push_back(op);
    });
    return ops;
  }

  void runOnOperation() final {
    rewriteAll<amdg::BufferLoadOp, amdg::BufferLoadToLocalOp, amdg::BufferStoreOp, amdg::BufferAtomicRMWOp,
               amdg::BufferAtomicCASOp, amdg::InThreadTransposeOp>();
    for (Operation *op : opsThat(isHint))
      op->erase();
    for (Operation *op : opsThat(llvm::IsaPred<amdg::CondBarrierOp>))
      eraseUnused(op);
    for (Operation *op : opsThat(isThreadId)) {
      if (!op->use_empty()) {
        (void)tt::report(op->getLoc(), amd::diag::ThreadIndex);
        return signalPassFailure();
      }
      op->erase();
    }
  }
};
} // namespace
