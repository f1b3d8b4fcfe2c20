// Verifies exchanges between the CTAs of a cluster, relates their layouts and gives their buffers.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Elements.h"
#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttng;

bool ttng::isSplitOverCluster(Operation *op) {
  auto module = isa<ModuleOp>(op) ? cast<ModuleOp>(op) : op->getParentOfType<ModuleOp>();
  return module->hasAttr(kClusterSplit);
}

LogicalResult ClusterGatherOp::verify() {
  if (getParts().empty()) // C1
    return emitOpError("has no operand");
  if (getArrives() && getOpen()) // C3
    return emitOpError("has no barrier to arrive at, as it is open");
  auto first = cast<RankedTensorType>(getParts().front().getType());
  if (getDim() < 0 || getDim() >= first.getRank())
    return emitOpError() << "has dim " << getDim() << "; its operands have " << first.getRank() << " dimensions";
  const int64_t all = cast<RankedTensorType>(getResult(0).getType()).getDimSize(getDim());
  const int64_t numCtas = all / first.getDimSize(getDim());
  for (auto [part, result] : llvm::zip_equal(getParts(), getResults())) {
    auto from = cast<RankedTensorType>(part.getType()), to = cast<RankedTensorType>(result.getType());
    if (from.getShape() != first.getShape())
      return emitOpError("has operands of several shapes");
    SmallVector<int64_t> shape(from.getShape());
    shape[getDim()] *= numCtas;
    if (to.getShape() != ArrayRef(shape) || to.getElementType() != from.getElementType()) // C2
      return emitOpError() << "has a result " << to << " of parts " << from;
  }
  return success();
}

/// The parts are read from shared memory, in any layout.
ttg::LayoutRelation ClusterGatherOp::getLayoutRelation() {
  ttg::LayoutRelation relation(*this, getResult(0).getType());
  relation.uniteResults(*this);
  return relation;
}

/// The parts, one after the other, each aligned to the widest vector.
ttg::Scratch ClusterGatherOp::getScratch() {
  uint32_t bytes = 0;
  for (Value part : getParts()) {
    auto tile = cast<RankedTensorType>(part.getType());
    if (!ttg::encodingOf(tile))
      return {};
    bytes = llvm::alignTo(bytes, 16) + tt::tileBytes(tile);
  }
  return {bytes, 0, getArrives() || getOpen()};
}

/// The registers of all threads; a scalar is the same in all of them.
ttg::Scratch ClusterBroadcastOp::getScratch() {
  const uint32_t bytes = std::max<uint32_t>(1, tt::storageBytes(tt::elementOf(getType())));
  auto tile = dyn_cast<RankedTensorType>(getType());
  const bool isKept = getArrives() || getOpen();
  if (!tile)
    return {bytes, 0, isKept};
  if (!ttg::encodingOf(tile))
    return {};
  const uint32_t registers = ttg::linearLayoutOf(tile).inSize(layout::kRegister);
  return {registers * ttg::totalWarpsOf(*this) * ttg::threadsPerWarpOf(*this) * bytes, 0, isKept};
}
