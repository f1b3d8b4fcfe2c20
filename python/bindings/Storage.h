// Finds how much memory pointers into an array may reach.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

/// Whether the whole storage behind an array, of which a view may show a part, has at most 2^31 - 1 bytes; false where
/// the object does not tell.
bool isWithin2GiB(nb::handle array);

} // namespace nereid::python
