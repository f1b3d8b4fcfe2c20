// Puts the opcodes of all units into one table.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/Opcodes.h"

using namespace nereid::sim;

OpcodeTable nereid::sim::unitOpcodes() {
  OpcodeTable table;
  for (auto list : {integerOpcodes, logicOpcodes, floatOpcodes, comparisonOpcodes, convertOpcodes, moveOpcodes,
                    memoryOpcodes, atomicOpcodes, controlOpcodes, barrierOpcodes, fenceOpcodes, shuffleOpcodes,
                    matrixOpcodes, warpGroupOpcodes, mbarrierOpcodes, copyOpcodes, tensorMapOpcodes, hostCallOpcodes})
    for (const OpcodeEntry &entry : list())
      table.emplace(entry.opcode, entry);
  return table;
}
