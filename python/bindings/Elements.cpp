// Splits composite arguments into their elements.
// SPDX-License-Identifier: MIT
#include "python/bindings/Elements.h"

#include "python/bindings/Descriptors.h"
#include "python/bindings/PyHost.h"

#include <atomic>

namespace nereid::python {

/// The marker of the dataclass fields that objects have: neither a ClassVar nor an InitVar has it.
static PyObject *markOfFields() {
  static std::atomic<PyObject *> known{nullptr};
  if (PyObject *mark = known.load())
    return mark;
  nb::object module = checked(PyImport_ImportModule("dataclasses"));
  PyObject *mark = checked(PyObject_GetAttrString(module.ptr(), "_FIELD")).release().ptr();
  known.store(mark);
  return mark;
}

nb::object fieldNamesOfClass(nb::handle type) {
  if (isAggregateClass(type))
    return checked(PySequence_Tuple(attributeOrNull(type, "__aggregate_fields__").ptr()));
  if (!isDataclass(type))
    return {};
  nb::object names = checked(PyList_New(0));
  nb::object fields = checked(PyObject_GetAttrString(type.ptr(), "__dataclass_fields__"));
  PyObject *name = nullptr, *field = nullptr;
  for (Py_ssize_t at = 0; PyDict_Check(fields.ptr()) && PyDict_Next(fields.ptr(), &at, &name, &field);)
    if (checked(PyObject_GetAttrString(field, "_field_type")).ptr() == markOfFields() &&
        PyList_Append(names.ptr(), name) < 0)
      throw nb::python_error();
  return checked(PyList_AsTuple(names.ptr()));
}

nb::object fieldNames(nb::handle object) {
  return isDescriptor(object) ? nb::object() : fieldNamesOfClass(object.type());
}

nb::object elementsOf(nb::handle object) {
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

void bindElements(nb::module_ &module) {
  const auto orNone = [](nb::object parts) { return parts.is_valid() ? parts : nb::none(); };
  module.def(
      "elements_of", [orNone](nb::handle object) { return orNone(elementsOf(object)); }, nb::arg("object").none(),
      "The elements of a tuple or the fields of an object that kernels take apart; None for anything else.");
  module.def(
      "field_names", [orNone](nb::handle type) { return orNone(fieldNamesOfClass(type)); }, nb::arg("type"),
      "The fields of the objects of an aggregate or a dataclass; None for any other class.");
}

} // namespace nereid::python
