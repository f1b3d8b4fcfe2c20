// Instructions of AMD's GPUs in the text of a kernel, one group per file.
// SPDX-License-Identifier: MIT
//
// The opcode is `amd`, its first modifier the instruction. Immediates are the hardware's.
//
//   amd.dpp.b32 d, old, value, control, rowMask, bankMask, boundControl
//   amd.mfma.m32n32k8.f32.f16.f16 {results}, {left}, {right}, {accumulators}
#pragma once

#include "runtime/sim/machine/Decode.h"

namespace nereid::sim {

void addAmdOpcodes(OpcodeTable &table);

/// s_barrier, wave_barrier.
void decodeWaveBarrier(Decoder &decoder);
/// ds_bpermute, ds_permute, ds_swizzle, dpp, readfirstlane, readlane, writelane, permlane*, ballot.
void decodeLaneExchange(Decoder &decoder);
/// mfma, mfma_scale, mfma_f8f6f4, wmma.
void decodeMatrixMultiply(Decoder &decoder);
/// buffer_load, buffer_store.
void decodeBufferAccess(Decoder &decoder);
/// cvt_*.
void decodeAmdConversion(Decoder &decoder);

} // namespace nereid::sim
