// The opcodes of NVIDIA's GPUs, a list per unit.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Decode.h"

namespace nereid::sim {

std::span<const OpcodeEntry> integerOpcodes();
std::span<const OpcodeEntry> logicOpcodes();
std::span<const OpcodeEntry> floatOpcodes();
std::span<const OpcodeEntry> comparisonOpcodes();
std::span<const OpcodeEntry> convertOpcodes();
std::span<const OpcodeEntry> moveOpcodes();
std::span<const OpcodeEntry> memoryOpcodes();
std::span<const OpcodeEntry> atomicOpcodes();
std::span<const OpcodeEntry> controlOpcodes();
std::span<const OpcodeEntry> barrierOpcodes();
std::span<const OpcodeEntry> fenceOpcodes();
std::span<const OpcodeEntry> shuffleOpcodes();
std::span<const OpcodeEntry> matrixOpcodes();
std::span<const OpcodeEntry> warpGroupOpcodes();
std::span<const OpcodeEntry> mbarrierOpcodes();
std::span<const OpcodeEntry> copyOpcodes();
std::span<const OpcodeEntry> tensorMapOpcodes();
/// Functions of the driver, by their names.
std::span<const OpcodeEntry> hostCallOpcodes();

/// All of them by name.
OpcodeTable unitOpcodes();

/// Opcodes that several units share: floats pass integers on, copies pass on those of other units.
void decodeInteger(Decoder &decoder);
void decodeAtomicReduction(Decoder &decoder);
void decodeAsyncStore(Decoder &decoder);
void decodeSmallProduct(Decoder &decoder);
void decodeCopyArrival(Decoder &decoder);
void decodeTensorCopy(Decoder &decoder);

/// Adds the registers of the operands of a matrix product; false after a failure.
bool addMatrixRegisters(Decoder &decoder, Instruction &instruction, std::initializer_list<size_t> counts,
                        unsigned laneBytes = 4);

} // namespace nereid::sim
