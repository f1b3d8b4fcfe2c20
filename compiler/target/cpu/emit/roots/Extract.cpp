// Emits unsplat: the one element of a tile becomes a scalar.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
struct ExtractEmitter : RootEmitter {
  using RootEmitter::RootEmitter;

  LogicalResult emit(unsigned level) override {
    Element element = evaluate(root.op->getOperand(0), level);
    if (element)
      context.scalars.define(root.op->getResult(0), element.value);
    return success();
  }
};
} // namespace

namespace nereid::cpu {
extern const RootTraits extractRoot = {
    .matches = isOp<tt::UnsplatOp>,
    .print = [](llvm::raw_ostream &out, Operation *, AccessText) { out << "extract"; },
    .emitter = makeEmitter<ExtractEmitter>};
} // namespace nereid::cpu
