// Turns the descriptors of TMA copies, whose layout the kernel's author chose, into tensor maps.
//
//   %d = tt.make_tensor_descriptor ...   ->   %m = ttng.make_tensor_map ... {layout = #shared}
//
// Copies through %d become copies through %m. See docs/why/gluon-nvidia.md.
//
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/dialect/Dialect.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/maps/DescriptorFields.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_LOWERDESCRIPTORCOPIES
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using tt::TensorDescType;

static bool hasLayout(TensorDescType type) { return bool(type.getBlockType().getEncoding()); }
static bool isOfCopies(Type type) {
  auto descriptor = dyn_cast<TensorDescType>(type);
  return descriptor && hasLayout(descriptor);
}

/// Notes the block, which a tensor map does not reveal. A reduction becomes a copy with a kind.
static void noteBlock(Operation *op) {
  Builder builder(op->getContext());
  if (auto load = dyn_cast<ttng::AsyncTmaCopyGlobalToLocalOp>(op)) {
    load.setBlock(load.blockShape());
  } else if (auto store = dyn_cast<ttng::AsyncTmaCopyLocalToGlobalOp>(op)) {
    store.setBlock(store.blockShape());
  } else if (auto reduce = dyn_cast<ttng::AsyncTmaReduceOp>(op)) {
    OpBuilder before(op);
    const bool isUnsigned = reduce.getTensorMap().getType().getBlockType().getElementType().isUnsignedInteger();
    ttng::AsyncTmaCopyLocalToGlobalOp::create(before, op->getLoc(), reduce.getTensorMap(), reduce.getIndices(),
                                              reduce.getSrc(), builder.getDenseI64ArrayAttr(reduce.blockShape()),
                                              reduce.getKindAttr(), isUnsigned ? builder.getUnitAttr() : UnitAttr(),
                                              UnitAttr());
    op->erase();
  }
}

static void retype(Operation *op) {
  Type map = tt::PointerType::get(IntegerType::get(op->getContext(), 8));
  for (Value result : op->getResults())
    if (isOfCopies(result.getType()))
      result.setType(map);
  for (Region &region : op->getRegions())
    for (BlockArgument argument : region.getArguments())
      if (isOfCopies(argument.getType()))
        argument.setType(map);
}

namespace {
struct LowerDescriptorCopies : nvidia::impl::LowerDescriptorCopiesBase<LowerDescriptorCopies> {
  using LowerDescriptorCopiesBase::LowerDescriptorCopiesBase;

  void runOnOperation() final {
    getOperation().walk([&](Operation *op) { noteBlock(op); });
    for (auto kernel : getOperation().getOps<tt::FuncOp>())
      if (!kernel.isExternal())
        hostTensorMaps ? takeTensorMaps(kernel, hasLayout) : takeFields(kernel, hasLayout);
    getOperation().walk([&](tt::MakeTensorDescOp make) {
      if (hasLayout(make.getType()))
        makeTensorMap(make);
    });
    getOperation().walk([&](Operation *op) {
      if (!isa<tt::FuncOp>(op))
        retype(op);
    });
  }
};
} // namespace
