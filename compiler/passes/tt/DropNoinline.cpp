// Removes noinline from functions, so that the inliner takes every call.
// SPDX-License-Identifier: MIT
#include "compiler/passes/tt/Passes.h"

namespace nereid::tt {
#define GEN_PASS_DEF_DROPNOINLINE
#include "compiler/passes/tt/Passes.h.inc"
} // namespace nereid::tt

using namespace mlir;
using namespace nereid;

namespace {
struct DropNoinline : nereid::tt::impl::DropNoinlineBase<DropNoinline> {
  void runOnOperation() final {
    for (tt::FuncOp function : getOperation().getOps<tt::FuncOp>())
      function->setAttr("noinline", BoolAttr::get(&getContext(), false));
  }
};
} // namespace
