// Rewrites ops for AMD's GPUs in imported TTGIR as ops of `tt` and `ttg`.
//
//   %x = amdg.buffer_load %p[%o], %m : !tt.ptr<f32> -> tensor<64xf32, #b>
//     ->  %s = tt.splat %p, %a = tt.addptr %s, %o, %x = tt.load %a, %m, %zero
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

/// A buffer has 2^31 bytes; offsets outside of it read zero and store nothing, as buffer instructions do.
static void markBounded(Operation *access) {
  access->setDiscardableAttr(ttg::kBoundedOffset, UnitAttr::get(access->getContext()));
}

/// Elements of a buffer that are masked off read as zero.
static Value loadFrom(OpBuilder &builder, Location loc, Type type, Value addresses, Value mask, Value other,
                      tt::CacheModifier cache) {
  if (mask && !other)
    other = arith::ConstantOp::create(builder, loc, cast<TypedAttr>(builder.getZeroAttr(type)));
  auto load = tt::LoadOp::create(builder, loc, type, addresses, mask, other, cache, tt::EvictionPolicy::NORMAL,
                                 /*isVolatile=*/false);
  markBounded(load);
  return load;
}

static void rewrite(amdg::BufferLoadOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  op.getResult().replaceAllUsesWith(
      loadFrom(builder, op.getLoc(), op.getType(), addresses, op.getMask(), op.getOther(), op.getCache()));
  op.erase();
}

static void rewrite(amdg::BufferLoadToLocalOp op) {
  OpBuilder builder(op);
  const Location loc = op.getLoc();
  Value addresses = addressesOf(builder, loc, op.getPtr(), op.getOffsets());
  auto copy =
      ttg::AsyncCopyGlobalToLocalOp::create(builder, loc, op.getToken().getType(), addresses, op.getDest(),
                                            op.getMask(), op.getOther(), op.getCache(), tt::EvictionPolicy::NORMAL);
  markBounded(copy);
  op.getToken().replaceAllUsesWith(copy.getToken());
  op.erase();
}

static void rewrite(amdg::BufferStoreOp op) {
  OpBuilder builder(op);
  Value addresses = addressesOf(builder, op.getLoc(), op.getPtr(), op.getOffsets());
  markBounded(tt::StoreOp::create(builder, op.getLoc(), addresses, op.getValue(), op.getMask(), op.getCache(),
                                  tt::EvictionPolicy::NORMAL));
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

//--- floats of 8 and 4 bits ----------------------------------------------------------------

/// Values times scales, both exact in f32, rounded to the type of the result.
static Value scaled(OpBuilder &builder, Location loc, Value single, Value scale, Type type) {
  Value wide = arith::ExtFOp::create(builder, loc, single.getType(), scale);
  return arith::TruncFOp::create(builder, loc, type, arith::MulFOp::create(builder, loc, single, wide));
}

static void rewrite(amdg::ScaledUpcastFp4Op op) {
  OpBuilder builder(op);
  Value values = amdg::UnpackFp4Op::create(builder, op.getLoc(), tt::withElement(op.getType(), builder.getF32Type()),
                                           op.getInput(), op.getAxis());
  op.getResult().replaceAllUsesWith(scaled(builder, op.getLoc(), values, op.getScale(), op.getType()));
  op.erase();
}

static void rewrite(amdg::ScaledUpcastFp8Op op) {
  OpBuilder builder(op);
  Value values = tt::FpToFpOp::create(builder, op.getLoc(), tt::withElement(op.getType(), builder.getF32Type()),
                                      op.getInput(), tt::RoundingModeAttr());
  op.getResult().replaceAllUsesWith(scaled(builder, op.getLoc(), values, op.getScale(), op.getType()));
  op.erase();
}

//--- hints ---------------------------------------------------------------------------------

/// A hint of `rocdl` as an op of `amdg`, by its name and numbers; nothing where it has others.
static Operation *hintOf(OpBuilder &builder, Operation *op) {
  const StringRef name = op->getName().getStringRef();
  auto attribute = op->getAttrOfType<DenseI32ArrayAttr>("arguments");
  const ArrayRef<int32_t> numbers = attribute ? attribute.asArrayRef() : ArrayRef<int32_t>();
  const Location loc = op->getLoc();
  if (name == "rocdl.sched.barrier" && numbers.size() == 1)
    return amdg::SchedBarrierOp::create(builder, loc, numbers[0]);
  if (name == "rocdl.sched.group.barrier" && numbers.size() == 3)
    return amdg::SchedGroupBarrierOp::create(builder, loc, numbers[0], numbers[1], numbers[2]);
  if (name == "rocdl.s.setprio" && numbers.size() == 1)
    return amdg::SetPriorityOp::create(builder, loc, numbers[0]);
  if (name == "rocdl.iglp.opt" && numbers.size() == 1)
    return amdg::SchedOptionOp::create(builder, loc, numbers[0]);
  return nullptr;
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
               amdg::BufferAtomicCASOp, amdg::InThreadTransposeOp, amdg::ScaledUpcastFp4Op, amdg::ScaledUpcastFp8Op>();
    for (Operation *op : opsThat(isHint)) {
      OpBuilder builder(op);
      (void)hintOf(builder, op);
      op->erase();
    }
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
