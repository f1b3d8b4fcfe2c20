// The opcodes of NVIDIA's GPUs, by unit.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Decode.h"

namespace nereid::sim {

using AddOpcodes = void(OpcodeTable &table);
AddOpcodes addAtomicOpcodes, addBarrierOpcodes, addComparisonOpcodes, addControlOpcodes, addConvertOpcodes,
    addCopyOpcodes, addFenceOpcodes, addFloatOpcodes, addIntegerOpcodes, addLogicOpcodes, addMatrixOpcodes,
    addMbarrierOpcodes, addMemoryOpcodes, addMoveOpcodes, addMultimemOpcodes, addShuffleOpcodes, addTensorMapOpcodes,
    addWarpGroupOpcodes;
/// Functions of the driver, by their names.
AddOpcodes addHostCallOpcodes;

/// Adds those of all units.
void addUnitOpcodes(OpcodeTable &table);

/// Opcodes that several units share: floats pass integers on, copies pass on those of other units.
using DecodeShared = void(Decoder &decoder);
DecodeShared decodeInteger, decodeAtomicReduction, decodeAsyncStore, decodeSmallProduct, decodeCopyArrival,
    decodeTensorCopy;

/// Adds the registers of the operands of a matrix product: results, left, right, accumulators, metadata. The slots get
/// the number of each, which checks read; slots[4] the lanes that give metadata. False after a failure.
bool addMatrixRegisters(Decoder &decoder, Instruction &instruction, std::initializer_list<size_t> counts,
                        unsigned laneBytes = 4);

} // namespace nereid::sim
