// Recognises tensor descriptors made on the host by their class's name, and reads their fields for a launch.
// SPDX-License-Identifier: MIT
#include "python/bindings/Descriptors.h"

namespace nereid::python {

bool isDescriptor(nb::handle argument) {
  if (std::string_view(Py_TYPE(argument.ptr())->tp_name) != "TensorDescriptor")
    return false;
  return attributeOrNull(argument, "base").is_valid() && attributeOrNull(argument, "block_shape").is_valid();
}

nb::object baseOf(nb::handle descriptor) { return checked(PyObject_GetAttrString(descriptor.ptr(), "base")); }

static nb::object itemOf(nb::handle descriptor, const char *list, size_t index) {
  nb::object values = checked(PyObject_GetAttrString(descriptor.ptr(), list));
  nb::object item = checked(PySequence_GetItem(values.ptr(), static_cast<Py_ssize_t>(index)));
  return checked(PyNumber_Index(item.ptr()));
}

static nb::object flag(bool truth) { return nb::borrow(truth ? Py_True : Py_False); }

nb::object descriptorField(nb::handle descriptor, size_t part) {
  nb::object shape = checked(PyObject_GetAttrString(descriptor.ptr(), "shape"));
  const Py_ssize_t length = PySequence_Size(shape.ptr());
  if (length < 0)
    throw nb::python_error();
  const auto rank = static_cast<size_t>(length);
  // Base, extents, strides, two flags, then extents and strides again.
  if (part == 0)
    return baseOf(descriptor);
  const size_t flags = 1 + 2 * rank;
  if (part == flags) {
    nb::object padding = checked(PyObject_GetAttrString(descriptor.ptr(), "padding"));
    return flag(PyUnicode_Check(padding.ptr()) && utf8(padding) == "nan");
  }
  if (part == flags + 1) {
    return flag(isTrue(checked(PyObject_GetAttrString(descriptor.ptr(), "round_f32_to_tf32"))));
  }
  const size_t index = part < flags ? part - 1 : part - flags - 2;
  return itemOf(descriptor, index < rank ? "shape" : "strides", index % rank);
}

} // namespace nereid::python
