// The instructions of AMD's GPUs, by name.
// SPDX-License-Identifier: MIT
#include "runtime/sim/amd/Instructions.h"

using namespace nereid::sim;

void nereid::sim::addAmdOpcodes(OpcodeTable &table) {
  table.add("amd.s_barrier amd.wave_barrier", decodeWaveBarrier, Kind::Barrier);
  table.add("amd.ds_bpermute amd.ds_permute amd.ds_swizzle amd.dpp amd.readfirstlane amd.readlane amd.writelane "
            "amd.permlane16 amd.permlanex16 amd.permlane64 amd.permlane16_swap amd.permlane32_swap amd.ballot",
            decodeLaneExchange, Kind::Shuffle);
  table.add("amd.mfma amd.mfma_scale amd.mfma_f8f6f4 amd.wmma", decodeMatrixMultiply, Kind::TensorCore);
  table.add("amd.buffer_load", decodeBufferAccess, Kind::GlobalLoad);
  table.add("amd.buffer_store", decodeBufferAccess, Kind::GlobalStore);
  table.add("amd.cvt_pk amd.cvt_sr amd.cvt_float amd.cvt_pkrtz", decodeAmdConversion, Kind::Convert);
}
