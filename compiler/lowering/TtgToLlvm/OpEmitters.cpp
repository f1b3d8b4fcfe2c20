// Lists the families of emitters.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"

void nereid::lowering::addOpEmitters(OpEmitters &table) {
  addAtomicEmitters(table);
  addBufferViewEmitters(table);
  addControlEmitters(table);
  addConvertLayoutEmitters(table);
  addDebugEmitters(table);
  addDotEmitters(table);
  addElementwiseEmitters(table);
  addGatherEmitters(table);
  addIndexEmitters(table);
  addInlineAsmEmitters(table);
  addJoinEmitters(table);
  addLocalGatherEmitters(table);
  addMapEmitters(table);
  addMemoryEmitters(table);
  addProgramEmitters(table);
  addReduceEmitters(table);
  addScanEmitters(table);
  addShapeEmitters(table);
  addSharedEmitters(table);
  addWarpEmitters(table);
}
