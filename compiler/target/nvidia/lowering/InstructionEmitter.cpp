// Lists the emitters of NVIDIA's ops; moves tiles by ldmatrix and stmatrix.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/lowering/InstructionEmitter.h"

#include "compiler/lowering/TtgToLlvm/SharedAccess.h"
#include "compiler/target/nvidia/lowering/TmaEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;
using namespace nereid::nvidia;

void InstructionEmitter::addOpEmitters(OpEmitters &table) {
  addBarrierEmitters(table);
  addClusterEmitters(table);
  addMmaDotEmitters(table);
  addTmaEmitters(table);
  addWarpGroupDotEmitters(table);
}

/// Tensor cores and TMA read such buffers.
void InstructionEmitter::releaseStores(IrBuilder &ir, ttg::MemDescType buffer) {
  if (isa<ttg::NvmmaSharedAttr>(buffer.getEncoding()))
    fenceAsyncShared(ir);
}

bool InstructionEmitter::markParameterByValue(llvm::Argument &parameter) {
  if (!tma())
    return false;
  tma()->markTensorMapParameter(parameter);
  return true;
}

bool InstructionEmitter::loadTile(TtgFunctionEmitter &emitter, llvm::Value *buffer, ttg::MemDescType type,
                                  RankedTensorType tile, MutableArrayRef<llvm::Value *> registers) {
  if (!hasLdmatrix())
    return false;
  const auto plan = layout::planLdStMatrix(ttg::linearLayoutOf(tile), bufferLayoutOf(type), elementBytesOf(type));
  if (!plan)
    return false;
  emitter.loadShared(buffer, *plan, 0, tile.getElementType(), registers);
  return true;
}

/// Stores by stmatrix where that takes fewer instructions.
bool InstructionEmitter::storeTile(TtgFunctionEmitter &emitter, llvm::Value *buffer, ttg::MemDescType type,
                                   RankedTensorType tile, ArrayRef<llvm::Value *> registers) {
  const layout::LinearLayout &held = ttg::linearLayoutOf(tile);
  const bool hasCopies = held.freeVariableMask(layout::kLane) || held.freeVariableMask(layout::kRegister);
  const unsigned bytes = elementBytesOf(type);
  if (!hasStmatrix() || bytes > 2 || hasCopies)
    return false;
  const auto plan = layout::planLdStMatrix(held, bufferLayoutOf(type), bytes);
  if (!plan || plan->accesses.size() >= accessPatternOf(tile, type).accesses.size())
    return false;
  emitter.storeShared(buffer, *plan, 0, registers);
  return true;
}
