// Checks values of programs for a sanitizer, and reports the first wrong one.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/HostCalls.h"

namespace nereid::runtime {

/// See HostCalls::check.
bool checkValues(const CheckSite *site, const uint32_t ids[3], const void *const *values);

} // namespace nereid::runtime
