// Holds the rates by generation.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Rates.h"

using namespace nereid;
using namespace nereid::nvidia;

/// CUDA programming guide, "Arithmetic Instructions": fma and special functions by compute capability. NVIDIA's
/// whitepapers of V100, A100 and H100: products of tensor cores. L2 of A100: 5120 bytes per cycle for 108
/// multiprocessors. Hopper runs mma.sync at the rate of A100.
Rates nvidia::ratesOf(unsigned capability, bool hasWgmma) {
  Rates rates{0, 512, 128, 16, 48, 1};
  if (capability < 86)
    rates.fma = 64;
  if (capability == 80 || capability >= 90)
    rates.warpMmaProducts = 1024;
  if (hasWgmma)
    rates.wgmmaProducts = 2048;
  return rates;
}
