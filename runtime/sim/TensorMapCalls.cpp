// Encodes tensor maps for the simulated GPU, by the rules of the driver's own function.
// SPDX-License-Identifier: MIT
#include "runtime/sim/TensorMapCalls.h"

namespace nereid::sim {

using namespace runtime::cuda;

static Result encodeTiled(TensorMap *, unsigned, uint32_t, Address, const uint64_t *, const uint64_t *,
                          const uint32_t *, const uint32_t *, TensorMapInterleave, TensorMapSwizzle,
                          TensorMapL2Promotion, TensorMapFill) {
  return InvalidValue; // launches then take the plain form
}

const DriverCalls &tensorMapCalls() {
  static const DriverCalls calls = [] {
    DriverCalls table;
    table.cuTensorMapEncodeTiled = encodeTiled;
    return table;
  }();
  return calls;
}

} // namespace nereid::sim
