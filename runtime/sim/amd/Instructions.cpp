// Finds the decoder of an instruction of AMD's GPUs by its name.
// SPDX-License-Identifier: MIT
#include "runtime/sim/amd/Instructions.h"

#include "runtime/sim/machine/Decode.h"

using namespace nereid::sim;

static void decodeAmd(Decoder &decoder) {
  static const struct {
    const char *name;
    Decode decode;
  } known[] = {
      {"s_barrier", decodeWaveBarrier},        {"wave_barrier", decodeWaveBarrier},
      {"ds_bpermute", decodeLaneExchange},     {"ds_permute", decodeLaneExchange},
      {"ds_swizzle", decodeLaneExchange},      {"dpp", decodeLaneExchange},
      {"readfirstlane", decodeLaneExchange},   {"readlane", decodeLaneExchange},
      {"writelane", decodeLaneExchange},       {"permlane16", decodeLaneExchange},
      {"permlanex16", decodeLaneExchange},     {"permlane64", decodeLaneExchange},
      {"permlane16_swap", decodeLaneExchange}, {"permlane32_swap", decodeLaneExchange},
      {"ballot", decodeLaneExchange},          {"mfma", decodeMatrixMultiply},
      {"mfma_scale", decodeMatrixMultiply},    {"mfma_f8f6f4", decodeMatrixMultiply},
      {"wmma", decodeMatrixMultiply},          {"buffer_load", decodeBufferAccess},
      {"buffer_store", decodeBufferAccess},    {"cvt_pk", decodeAmdConversion},
      {"cvt_sr", decodeAmdConversion},         {"cvt_float", decodeAmdConversion},
      {"cvt_pkrtz", decodeAmdConversion},
  };
  for (const auto &[name, decode] : known)
    if (decoder.has(name))
      return decode(decoder);
  decoder.fail("this instruction is not known");
}

std::span<const OpcodeEntry> nereid::sim::amdOpcodes() {
  static const OpcodeEntry entries[] = {{"amd", decodeAmd}};
  return entries;
}
