// Removes ops that only carry hints and add no information.
// SPDX-License-Identifier: MIT
#include "compiler/index/AxisInfo.h"
#include "compiler/passes/tt/Passes.h"

namespace nereid::tt {
#define GEN_PASS_DEF_DROPHINTS
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;
using namespace nereid::tt;

namespace {
struct DropHints : nereid::tt::impl::DropHintsBase<DropHints> {
  using DropHintsBase::DropHintsBase;
  void runOnOperation() final {
    SmallVector<BitcastOp> hints;
    getOperation()->walk([&](BitcastOp op) {
      if (op.isHint())
        hints.push_back(op);
    });
    if (hints.empty())
      return;
    if (!all) {
      const index::AxisInfoAnalysis known(getOperation());
      llvm::erase_if(hints, [&](BitcastOp hint) { return !(known.of(hint.getSrc()) == known.of(hint.getResult())); });
    }
    for (BitcastOp hint : hints) {
      hint.getResult().replaceAllUsesWith(hint.getSrc());
      hint.erase();
    }
  }
};
} // namespace
