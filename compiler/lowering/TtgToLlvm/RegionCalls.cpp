// Emits the combine function of a reduction, scan or map for given elements.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

FailureOr<Tile> TtgFunctionEmitter::emitRegion(Block &block, ArrayRef<llvm::Value *> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    define(argument, {value});
  if (failed(emitBlock(block)))
    return failure();
  Tile results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}
