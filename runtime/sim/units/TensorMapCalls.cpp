// Encodes tensor maps for the simulated GPU, in the place of the driver's own function.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/TensorMapCalls.h"

#include "runtime/sim/units/TensorMap.h"

#include <algorithm>
#include <cstring>

namespace nereid::sim {

namespace driver = runtime::cuda;

/// The caller has checked address, extents and strides.
static driver::Result encodeTiled(driver::TensorMap *result, unsigned elementType, uint32_t rank, driver::Address base,
                                  const uint64_t *extents, const uint64_t *strides, const uint32_t *box,
                                  const uint32_t *elementStrides, driver::TensorMapInterleave interleave,
                                  driver::TensorMapSwizzle swizzle, driver::TensorMapL2Promotion,
                                  driver::TensorMapFill fill) {
  TensorMap map;
  if (rank < 1 || rank > std::size(map.extents))
    return driver::InvalidValue;
  map.rank = static_cast<uint8_t>(rank);
  map.element = elementOfDriver(elementType);
  map.swizzle = static_cast<uint8_t>(swizzle);
  map.interleave = static_cast<uint8_t>(interleave);
  map.padsWithNan = fill == driver::TensorMapFill::Nan;
  map.base = base;
  for (uint32_t i = 0; i < rank; ++i) {
    if (extents[i] > UINT32_MAX || box[i] == 0 || box[i] > artifact::kMaxBoxExtent)
      return driver::InvalidValue;
    map.extents[i] = static_cast<uint32_t>(extents[i]);
    map.box[i] = box[i];
    map.elementStrides[i] = elementStrides[i];
  }
  std::copy(strides, strides + rank - 1, map.strides);
  std::memset(result, 0, sizeof *result);
  std::memcpy(result, &map, sizeof map);
  return driver::Success;
}

const driver::DriverCalls &tensorMapCalls() {
  static const driver::DriverCalls calls = [] {
    driver::DriverCalls table;
    table.cuTensorMapEncodeTiled = encodeTiled;
    return table;
  }();
  return calls;
}

} // namespace nereid::sim
