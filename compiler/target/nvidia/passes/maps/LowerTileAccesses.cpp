// Turns tile accesses through tensor maps that no loop has pipelined into copies and waits at the same point.
//
//   %x = ttng.tile_load %m[...]     ->   %b = ttg.local_alloc
//                                        ttng.init_barrier, barrier_expect, async_tma_copy_global_to_local,
//                                        wait_barrier
//                                        %x = ttg.local_load %b
//   ttng.tile_store %m[...], %x     ->   %b = ttg.local_alloc %x
//                                        ttng.fence_async_shared
//                                        ttng.async_tma_copy_local_to_global, async_tma_store_wait
// SPDX-License-Identifier: MIT
#include "compiler/analysis/PointerBases.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/dialect/HostTensorMaps.h"
#include "compiler/target/nvidia/passes/Passes.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SetVector.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_LOWERTILEACCESSES
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// PTX ISA: copies of a tensor map are aligned to its size. Its parameters are stored after it.
static constexpr unsigned kTensorMapScratchBytes = 2 * ttng::kTensorMapBytes;

namespace {
class Lowerer {
public:
  explicit Lowerer(tt::FuncOp function) : function(function), builder(function.getContext()) {}

  void run();

private:
  void lower(ttng::TileLoadOp load);
  void lower(ttng::TileStoreOp store);
  void allocateScratch(ttng::MakeTensorMapOp make);
  Value copyTo(ttng::TileLoadOp load, MemDescType type);
  bool mayReadAgain(ttng::TileStoreOp store);
  Value constant(Location loc, int64_t number, unsigned bits) {
    return arith::ConstantIntOp::create(builder, loc, number, bits);
  }

  tt::FuncOp function;
  OpBuilder builder;
};
} // namespace

//--- loads ---------------------------------------------------------------------------------

/// The buffer that holds the tile after the wait.
Value Lowerer::copyTo(ttng::TileLoadOp load, MemDescType type) {
  const Location loc = load.getLoc();
  builder.setInsertionPoint(load);
  Value buffer = LocalAllocOp::create(builder, loc, type, Value(), IntegerAttr());
  Value barriers = LocalAllocOp::create(builder, loc, ttng::barrierType(load.getContext(), 1), Value(), IntegerAttr());
  ttng::InitBarrierOp::create(builder, loc, barriers, 1, false);
  Value barrier =
      MemDescIndexOp::create(builder, loc, ttng::barrierType(load.getContext(), 0), barriers, constant(loc, 0, 32));
  Value always = constant(loc, 1, 1);
  ttng::BarrierExpectOp::create(builder, loc, barrier, analysis::bufferBytes(type), always);
  ttng::AsyncTmaCopyGlobalToLocalOp::create(builder, loc, load.getTensorMap(), load.getIndices(), barrier, buffer,
                                            always, load.getBlockAttr(), load.getEvictAttr());
  ttng::WaitBarrierOp::create(builder, loc, barrier, constant(loc, 0, 32));
  ttng::InvalBarrierOp::create(builder, loc, barriers);
  return buffer;
}

/// Waits for dots forward the buffers that these read.
static void matchResultsOfWaits(Value buffer) {
  for (OpOperand &use : buffer.getUses())
    if (auto wait = dyn_cast<ttng::WarpGroupDotWaitOp>(use.getOwner()))
      wait.getResult(use.getOperandNumber()).setType(buffer.getType());
}

/// Users that allocate such a buffer take this one; others read it, each in its layout.
void Lowerer::lower(ttng::TileLoadOp load) {
  auto tile = cast<RankedTensorType>(load.getType());
  const Location loc = load.getLoc();
  Value buffer = copyTo(load, ttng::tileBuffer(tile, /*isMutable=*/true));
  const MemDescType read = ttng::tileBuffer(tile, /*isMutable=*/false);
  for (Operation *user : llvm::make_early_inc_range(load->getUsers())) {
    builder.setInsertionPoint(load);
    if (auto allocation = dyn_cast<LocalAllocOp>(user); allocation && allocation.getType() == read) {
      allocation.replaceAllUsesWith(buffer);
      allocation.erase();
      matchResultsOfWaits(buffer);
    } else if (auto convert = dyn_cast<ConvertLayoutOp>(user)) {
      builder.setInsertionPoint(convert);
      Value converted = LocalLoadOp::create(builder, loc, convert.getType(), buffer);
      convert.replaceAllUsesWith(converted);
      convert.erase();
    }
  }
  if (!load->use_empty()) {
    builder.setInsertionPoint(load);
    Value loaded = LocalLoadOp::create(builder, loc, tile, buffer);
    load.replaceAllUsesWith(loaded);
  }
  load.erase();
}

//--- stores --------------------------------------------------------------------------------

/// Whether the kernel may read what the store writes, or signal to others that it is written: then the store must
/// complete here, beyond having read shared memory.
bool Lowerer::mayReadAgain(ttng::TileStoreOp store) {
  const BlockArgument base = analysis::baseOf(store.getTensorMap());
  const WalkResult result = function.getBody().walk([&](Operation *op) {
    auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
    const bool isSignal = access && access.isAtomic();
    return isSignal || analysis::mayRead(op, base) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

void Lowerer::lower(ttng::TileStoreOp store) {
  const Location loc = store.getLoc();
  auto tile = cast<RankedTensorType>(store.getSrc().getType());
  builder.setInsertionPoint(store);
  Value buffer =
      LocalAllocOp::create(builder, loc, ttng::tileBuffer(tile, /*isMutable=*/false), store.getSrc(), IntegerAttr());
  ttng::FenceAsyncSharedOp::create(builder, loc, /*bCluster=*/false);
  ttng::AsyncTmaCopyLocalToGlobalOp::create(builder, loc, store.getTensorMap(), store.getIndices(), buffer,
                                            store.getBlockAttr(), store.getKindAttr(), store.getIsUnsignedAttr(),
                                            builder.getUnitAttr());
  ttng::AsyncTmaStoreWaitOp::create(builder, loc, ValueRange(buffer), builder.getI32IntegerAttr(0),
                                    mayReadAgain(store) ? UnitAttr() : builder.getUnitAttr());
  store.erase();
}

//--- tensor maps ---------------------------------------------------------------------------

/// Each tensor map has its own bytes in the program's scratch in global memory.
void Lowerer::allocateScratch(ttng::MakeTensorMapOp make) {
  Operation *module = function->getParentOp();
  auto size = module->getAttrOfType<IntegerAttr>(kScratchBytes);
  const unsigned begin = llvm::alignTo(size ? size.getInt() : 0, ttng::kTensorMapBytes);
  module->setAttr(kScratchBytes, builder.getI32IntegerAttr(begin + kTensorMapScratchBytes));
  auto alignment = module->getAttrOfType<IntegerAttr>(kScratchAlignment);
  module->setAttr(kScratchAlignment, builder.getI32IntegerAttr(
                                         std::max<int64_t>(ttng::kTensorMapBytes, alignment ? alignment.getInt() : 1)));
  make.setScratchOffset(begin);
  builder.setInsertionPoint(make);
  const unsigned order[] = {0};
  auto encoding = SwizzledSharedAttr::get(make.getContext(), 1, 1, 1, order);
  auto type = MemDescType::get({ttng::kTensorMapBytes / 8}, builder.getI64Type(), encoding,
                               SharedMemoryAttr::get(make.getContext()), true);
  Value scratch =
      LocalAllocOp::create(builder, make.getLoc(), type, Value(), builder.getI32IntegerAttr(ttng::kTensorMapBytes));
  make.getScratchMutable().assign(scratch);
}

void Lowerer::run() {
  SmallVector<Operation *> todo;
  function.walk([&](Operation *op) {
    if (isa<ttng::TileLoadOp, ttng::TileStoreOp, ttng::MakeTensorMapOp>(op))
      todo.push_back(op);
  });
  for (Operation *op : todo) {
    if (auto load = dyn_cast<ttng::TileLoadOp>(op))
      lower(load);
    else if (auto store = dyn_cast<ttng::TileStoreOp>(op))
      lower(store);
    else
      allocateScratch(cast<ttng::MakeTensorMapOp>(op));
  }
}

/// CTAs that share the work of a program make their own tensor maps.
static void reserveForEachCta(ModuleOp module) {
  auto size = module->getAttrOfType<IntegerAttr>(kScratchBytes);
  if (!size || !ttng::isSplitOverCluster(module))
    return;
  Builder builder(module.getContext());
  const int64_t each = llvm::alignTo(size.getInt(), ttng::kTensorMapBytes);
  module->setAttr(kScratchBytes, builder.getI32IntegerAttr(each * numCtasOf(module)));
}

namespace {
struct LowerTileAccesses : nvidia::impl::LowerTileAccessesBase<LowerTileAccesses> {
  void runOnOperation() final {
    for (auto function : getOperation().getOps<tt::FuncOp>())
      Lowerer(function).run();
    reserveForEachCta(getOperation());
  }
};
} // namespace
