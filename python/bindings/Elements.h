// The elements of a composite argument: a tuple, a namedtuple, an aggregate, a dataclass.
// SPDX-License-Identifier: MIT
#pragma once

#include "python/bindings/Python.h"

namespace nereid::python {

/// The elements of a tuple or the fields of an object, as a tuple; null for anything else. A constexpr, an array or a
/// descriptor has no elements.
nb::object elementsOf(nb::handle object);

/// The names of the fields of an object that is not a tuple; null where it has none.
nb::object fieldNames(nb::handle object);

/// The names of the fields that objects of an aggregate or a dataclass have; null for anything else.
nb::object fieldNamesOfClass(nb::handle type);

void bindElements(nb::module_ &module);

} // namespace nereid::python
