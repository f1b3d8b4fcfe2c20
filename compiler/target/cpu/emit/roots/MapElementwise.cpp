// Emits map_elementwise: its region on the lanes of a chunk, or element by element where it has control flow.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
struct MapElementwiseEmitter : RootEmitter {
  using RootEmitter::RootEmitter;

  LogicalResult emit(unsigned level) override {
    auto args = evaluateOperands(level);
    if (failed(args))
      return failure();
    auto results = applyRegion(*args);
    if (failed(results))
      return failure();
    for (auto [index, value] : llvm::enumerate(*results))
      writeResult(index, {value, chunk.lanes > 1}, level);
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
