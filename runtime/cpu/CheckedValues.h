// The values of a check as the check functions read them.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/HostCalls.h"

#include <optional>
#include <string>
#include <vector>

namespace nereid::runtime {

/// The description of the error, and the row-major index of its element in the first value.
struct Finding {
  int64_t element = 0;
  std::string message;
};

struct CheckedValues {
  CheckedValues(const CheckSite &site, const void *const *values)
      : site(site), values(values),
        mask(site.hasMask ? static_cast<const uint8_t *>(values[site.count - 1]) : nullptr) {
    for (uint32_t dim = 0; dim < site.types[0].rank; ++dim)
      elements *= site.types[0].shape[dim];
  }

  bool counts(int64_t element) const { return !mask || mask[element]; }
  /// Number of values without the mask.
  uint32_t count() const { return site.count - (mask ? 1 : 0); }
  const uint64_t *pointers() const { return static_cast<const uint64_t *>(values[0]); }

  const CheckSite &site;
  const void *const *values;
  const uint8_t *mask;  ///< null: all elements count
  int64_t elements = 1; ///< of the first value
};

} // namespace nereid::runtime
