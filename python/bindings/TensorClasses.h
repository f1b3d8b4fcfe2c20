// Which classes derived from a tensor class are plain tensors in memory.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

#include <cstdint>

namespace nereid::python {

/// What the exchange table of a tensor class says of the instances of a class that has it or derives from it.
enum class ViewTruth : uint8_t {
  None,    ///< nothing: an instance may have no memory, or other memory
  Certain, ///< all that the class itself would say
  Checked, ///< the same, if its address is what `data_ptr()` returns: the class intercepts calls
};

ViewTruth viewTruthOf(PyTypeObject *type);

} // namespace nereid::python
