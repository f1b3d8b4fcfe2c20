// Puts the opcodes of all units into one table.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

void nereid::sim::addUnitOpcodes(OpcodeTable &table) {
  for (AddOpcodes *add :
       {addAtomicOpcodes, addBarrierOpcodes, addComparisonOpcodes, addControlOpcodes, addConvertOpcodes, addCopyOpcodes,
        addFenceOpcodes, addFloatOpcodes, addHostCallOpcodes, addIntegerOpcodes, addLogicOpcodes, addMatrixOpcodes,
        addMbarrierOpcodes, addMemoryOpcodes, addMoveOpcodes, addMultimemOpcodes, addShuffleOpcodes,
        addTensorMapOpcodes, addWarpGroupOpcodes})
    add(table);
}
