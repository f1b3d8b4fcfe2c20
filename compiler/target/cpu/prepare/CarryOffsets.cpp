// Makes loops carry a scalar offset instead of a tile of pointers or integers that moves by equal steps: the tile is
// then affine, needs no buffer, and its loads use whole vectors.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/CarriedTiles.h"
#include "compiler/target/cpu/prepare/Passes.h"

namespace nereid::cpu {
#define GEN_PASS_DEF_CARRYOFFSETS
#include "compiler/target/cpu/prepare/Passes.h.inc"
} // namespace nereid::cpu

using namespace mlir;
using namespace nereid;

namespace {
struct CarryOffsets : nereid::cpu::impl::CarryOffsetsBase<CarryOffsets> {
  void runOnOperation() final {
    SmallVector<tt::CarriedTile> carried;
    getOperation().walk([&](scf::ForOp loop) {
      for (unsigned index = 0; index < loop.getNumRegionIterArgs(); ++index)
        if (const auto movement = tt::movementOf(loop, index); movement && !movement->steps.empty())
          carried.push_back({loop, index});
    });
    tt::carryOffsets(carried);
  }
};
} // namespace
