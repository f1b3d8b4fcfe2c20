// Takes apart arguments that hold others.
// SPDX-License-Identifier: MIT
#include "python/bindings/Parts.h"

#include "python/bindings/Descriptors.h"
#include "python/bindings/PyHost.h"

namespace nereid::python {

nb::object fieldNames(nb::handle object) {
  if (isA(object, packageNames().aggregateValue))
    return checked(PySequence_Tuple(attributeOrNull(object, "__aggregate_fields__").ptr()));
  if (PyType_Check(object.ptr()) || isDescriptor(object) || !isDataclass(object.type()))
    return {};
  return checked(PySequence_Tuple(attributeOrNull(object, "__dataclass_fields__").ptr()));
}

nb::object partsOf(nb::handle object) {
  if (PyTuple_Check(object.ptr()))
    return nb::borrow(object);
  nb::object names = fieldNames(object);
  if (!names.is_valid())
    return {};
  const Py_ssize_t size = PyTuple_GET_SIZE(names.ptr());
  nb::object parts = checked(PyTuple_New(size));
  for (Py_ssize_t i = 0; i < size; ++i)
    PyTuple_SET_ITEM(parts.ptr(), i,
                     checked(PyObject_GetAttr(object.ptr(), PyTuple_GET_ITEM(names.ptr(), i))).release().ptr());
  return parts;
}

} // namespace nereid::python
