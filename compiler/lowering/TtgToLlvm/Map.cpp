// Emits scalar functions mapped over tiles: the function's ops once for each element that a thread holds.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static LogicalResult emitMap(TtgFunctionEmitter &emitter, tt::MapElementwiseOp op) {
  if (op.getPack() != 1) // canonical IR has splits and joins around functions of single elements
    return op.emitError() << "a function of " << op.getPack() << " elements at a time must be canonicalised first";
  const unsigned count = numRegisters(op.getSrcs().front().getType());
  const uint32_t copies = copyMask(op.getSrcs().front().getType());
  SmallVector<Tile> results(op.getNumResults());
  for (unsigned index = 0; index < count; ++index) {
    if (index & copies) {
      for (Tile &result : results)
        result.push_back(result[index & ~copies]);
      continue;
    }
    Tile arguments;
    for (Value operand : op.getSrcs())
      arguments.push_back(emitter.tile(operand)[index]);
    FailureOr<Tile> emitted = emitter.emitRegion(op.getScalarOp().front(), arguments);
    if (failed(emitted))
      return failure();
    for (auto [result, value] : llvm::zip_equal(results, *emitted))
      result.push_back(value);
  }
  for (auto [value, result] : llvm::zip_equal(op.getResults(), results))
    emitter.define(value, std::move(result));
  return success();
}

void lowering::addMapEmitters(OpEmitters &table) { table.add<emitMap, tt::MapElementwiseOp>(); }
