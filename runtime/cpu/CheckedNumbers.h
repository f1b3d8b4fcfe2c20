// Checks of arithmetic: integers that wrap, NaN computed from numbers.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/CheckedValues.h"

namespace nereid::runtime {

/// The first element whose sum, difference or product does not fit.
std::optional<Finding> findOverflow(const CheckedValues &values);
/// Whether an overflow ends the launch at once: values computed from the result carry no flags.
bool endsLaunch(const CheckedValues &values);
/// The first element computed from arithmetic that wrapped.
std::optional<Finding> findWrapped(const CheckedValues &values);
/// The first NaN that has no NaN among its inputs.
std::optional<Finding> findNan(const CheckedValues &values);

} // namespace nereid::runtime
