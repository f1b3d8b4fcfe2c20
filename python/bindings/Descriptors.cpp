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

static nb::object field(nb::handle descriptor, const char *name) {
  return checked(PyObject_GetAttrString(descriptor.ptr(), name));
}

static bool padsWithNan(nb::handle descriptor) {
  const nb::object padding = field(descriptor, "padding");
  return PyUnicode_Check(padding.ptr()) && utf8(padding) == "nan";
}

static llvm::SmallVector<int64_t, 5> integersOf(nb::handle descriptor, const char *name) {
  const nb::object list = checked(PySequence_Fast(field(descriptor, name).ptr(), name));
  llvm::SmallVector<int64_t, 5> values;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.ptr()); ++i) {
    const nb::object item = checked(PyNumber_Index(PySequence_Fast_GET_ITEM(list.ptr(), i)));
    values.push_back(PyLong_AsLongLong(item.ptr()));
    if (values.back() == -1 && PyErr_Occurred())
      throw nb::python_error();
  }
  return values;
}

std::optional<DescriptorValues> valuesOf(nb::handle descriptor) {
  DescriptorValues found{baseOf(descriptor),
                         integersOf(descriptor, "shape"),
                         integersOf(descriptor, "strides"),
                         integersOf(descriptor, "block_shape"),
                         padsWithNan(descriptor),
                         isTrue(field(descriptor, "round_f32_to_tf32"))};
  const size_t rank = found.extents.size();
  return found.strides.size() == rank && found.block.size() == rank ? std::optional(std::move(found)) : std::nullopt;
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
  if (part == flags)
    return flag(padsWithNan(descriptor));
  if (part == flags + 1)
    return flag(isTrue(field(descriptor, "round_f32_to_tf32")));
  const size_t index = part < flags ? part - 1 : part - flags - 2;
  return itemOf(descriptor, index < rank ? "shape" : "strides", index % rank);
}

} // namespace nereid::python
