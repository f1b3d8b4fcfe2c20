// Arrays whose own `data_ptr()` has returned the address of their view.
// SPDX-License-Identifier: MIT
//
// A class that intercepts calls may give another address, so the method is called. For a subclass of torch.Tensor with
// a `__torch_function__` in Python it takes longer than a launch. An array is asked once, and again when its memory has
// moved.
#pragma once

#include "python/bindings/Python.h"

#include <cstdint>

namespace nereid::python {

bool isConfirmed(PyObject *object, uint64_t address);
/// Remembers it as long as the object lives, or until others take its place.
void confirmArray(PyObject *object, uint64_t address);

} // namespace nereid::python
