// Emits tiles that are written to buffers: values that later nests read, next values of carried tiles, operands of
// dots.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
struct TileEmitter : RootEmitter {
  using RootEmitter::RootEmitter;

  LogicalResult emit(unsigned level) override {
    const bool isNext = root.kind == RootKind::Assign && isa<scf::YieldOp, tt::DotOp>(root.op);
    Element element = evaluate(root.value, level);
    if (!element)
      return failure();
    const BufferId buffer = root.written();
    llvm::Value *base = isNext ? context.buffers.nextAt(buffer) : context.buffers.at(buffer);
    if (root.offset) {
      levels.insertAt(0);
      const uint64_t bytes = root.offset * storageBytes(tt::elementOf(root.value.getType()));
      base = ir.CreateConstGEP1_64(ir.getInt8Ty(), base, bytes);
    }
    writeTile(base, buffer, element, root.value.getType(), level);
    return success();
  }
};
} // namespace

std::unique_ptr<RootEmitter> cpu::makeTileEmitter(NestContext &context, const Root &root) {
  return makeEmitter<TileEmitter>(context, root);
}
