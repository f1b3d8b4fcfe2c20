// Holds the rates by generation.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Rates.h"

using namespace nereid;
using namespace nereid::nvidia;

/// NVIDIA's whitepaper of H100: products of tensor cores. L2 of A100: 5120 bytes per cycle for 108 multiprocessors.
Rates nvidia::ratesOf(const Arch &arch) {
  return {.wgmmaProducts = arch.hasWgmma ? 2048u : 0u,
          .warpMmaProducts = arch.warpMmaProducts,
          .fma = arch.fma,
          .special = 16,
          .globalBytes = 48,
          .warpInstructions = 1};
}
