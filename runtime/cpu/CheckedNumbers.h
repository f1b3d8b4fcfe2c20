// Checks of what programs compute: integers that wrap, NaN made of numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/CheckedValues.h"

namespace nereid::runtime {

/// The first element whose sum, difference or product does not fit.
std::optional<Finding> findOverflow(const CheckedValues &values);
/// Whether that ends the launch at once: what is computed from it has no flags of its own.
bool endsLaunch(const CheckedValues &values);
/// The first element that arithmetic has wrapped on the way to.
std::optional<Finding> findWrapped(const CheckedValues &values);
/// The first NaN of which no input is NaN.
std::optional<Finding> findNan(const CheckedValues &values);

} // namespace nereid::runtime
