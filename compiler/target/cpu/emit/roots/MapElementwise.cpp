// Emits map_elementwise: its region on the lanes of a chunk, or element by element where it has control flow.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
struct MapElementwiseEmitter : RootEmitter {
  using RootEmitter::RootEmitter;

  LogicalResult emit(unsigned level) override {
    auto args = emitter.vectorsOf(root.op, level);
    if (failed(args))
      return failure();
    auto results = emitter.applyRegion(root.op->getRegion(0).front(), *args);
    if (failed(results))
      return failure();
    for (auto [index, value] : llvm::enumerate(*results))
      emitter.writeElement({value, emitter.chunkLanes > 1}, root.op->getResult(index), root.buffers[index], level);
    return success();
  }
};
} // namespace

namespace nereid::cpu {
extern const RootTraits mapElementwiseRoot = {.matches = isOp<tt::MapElementwiseOp>,
                                              .purpose = "mapped",
                                              .isAlone = true,
                                              .emitter = makeEmitter<MapElementwiseEmitter>};
} // namespace nereid::cpu
