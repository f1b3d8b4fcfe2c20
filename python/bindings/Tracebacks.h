// Tracebacks of errors that users make.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

/// Removes the package's frames from the traceback of the exception that is set, if it is an error of the user's.
void hideOwnFrames();

} // namespace nereid::python
