// Analyses one argument for Python: its type in a signature, its specialisation, its device.
// SPDX-License-Identifier: MIT
#include "jit/Classify.h"
#include "python/bindings/Arrays.h"
#include "python/bindings/Descriptors.h"
#include "python/bindings/Elements.h"
#include "python/bindings/Numbers.h"
#include "python/bindings/PyHost.h"
#include "python/bindings/Storage.h"

#include <nanobind/stl/vector.h>

using namespace nereid;
using namespace nereid::python;

namespace {
/// The rules for analysing one argument.
struct Rule {
  nb::handle backend;
  bool isConst = false;
  jit::SpecializeRule specialize = {};
};
} // namespace

static nb::object pairOf(nb::object type, nb::object key) { return checked(PyTuple_Pack(2, type.ptr(), key.ptr())); }
static nb::object pairOf(std::string_view type, nb::object key) { return pairOf(textOf(type), std::move(key)); }

static nb::object pairOf(jit::ArgumentClass argument, const Rule &rule) {
  if (argument.form == jit::ArgumentClass::Form::One)
    return pairOf(argument.text(), checked(PyLong_FromLong(1)));
  const auto letters = rule.specialize.value ? argument.letters() : std::nullopt;
  return pairOf(argument.text(rule.isConst), letters ? textOf(*letters) : nb::none());
}

static nb::object specialize(nb::handle argument, const Rule &rule);

/// Types and keys of the elements of a tuple or an object, in tuples of the same class or, for an object, in tuples
/// that name its class.
static nb::object specializeElements(nb::handle whole, nb::handle parts, const Rule &rule) {
  const Py_ssize_t size = PyTuple_GET_SIZE(parts.ptr());
  nb::object types = checked(PyTuple_New(size)), keys = checked(PyTuple_New(size));
  const Rule elementRule{rule.backend};
  for (Py_ssize_t i = 0; i < size; ++i) {
    nb::object element = specialize(PyTuple_GET_ITEM(parts.ptr(), i), elementRule);
    PyTuple_SET_ITEM(types.ptr(), i, Py_NewRef(PyTuple_GET_ITEM(element.ptr(), 0)));
    PyTuple_SET_ITEM(keys.ptr(), i, Py_NewRef(PyTuple_GET_ITEM(element.ptr(), 1)));
  }
  PyObject *type = whole.type().ptr();
  if (!PyTuple_Check(whole.ptr()))
    return pairOf(checked(PyObject_CallFunctionObjArgs(packageNames().fieldTypes, type, fieldNames(whole).ptr(),
                                                       types.ptr(), nullptr)),
                  std::move(keys));
  if (!isNamedTuple(whole))
    return pairOf(std::move(types), std::move(keys));
  return pairOf(checked(PyObject_CallObject(type, types.ptr())), checked(PyObject_CallObject(type, keys.ptr())));
}

static nb::object specializeDescriptor(nb::handle descriptor) {
  nb::object base = baseOf(descriptor);
  nb::object dtype = checked(PyObject_Str(checked(PyObject_GetAttrString(base.ptr(), "dtype")).ptr()));
  const auto type = scalarTypeNamed(utf8(dtype));
  if (!type)
    raise(PyExc_TypeError, "a tensor descriptor cannot hold elements of type " + std::string(utf8(dtype)));
  nb::object shape = checked(PySequence_List(checked(PyObject_GetAttrString(descriptor.ptr(), "block_shape")).ptr()));
  std::string text = std::string(jit::spelling(*type)) + reprOf(shape);
  if (nb::object layout = attributeOrNull(descriptor, "layout"); layout.is_valid()) // Gluon's
    text += "," + reprOf(layout);
  return pairOf("tensordesc<" + text + ">", nb::none());
}

/// Whether code for the backend's targets differs with the size of an array's storage.
static bool keysStorage(nb::handle backend) {
  if (backend.is_none())
    return false;
  nb::object wanted = attributeOrNull(backend, "specializes_storage");
  return wanted.is_valid() && isTrue(wanted);
}

static nb::object pointerPair(nb::handle array, jit::ScalarType pointee, uint64_t address, const Rule &rule) {
  const bool isSmall = rule.specialize.value && keysStorage(rule.backend) && isWithin2GiB(array);
  return pairOf(jit::classifyPointer(address, pointee, isSmall, rule.specialize), rule);
}

/// Specialises an object that has `data_ptr` and `dtype` itself, where arrays have those of their class: some callers
/// describe arrays so. Null for any other object.
static nb::object specializeStandIn(nb::handle argument, const Rule &rule) {
  nb::object pointer = attributeOrNull(argument, "data_ptr"), dtype = attributeOrNull(argument, "dtype");
  if (!pointer.is_valid() || !dtype.is_valid())
    return {};
  const auto type = scalarTypeNamed(utf8(checked(PyObject_Str(dtype.ptr()))));
  if (!type)
    return {};
  const uint64_t address = addressFrom(checked(PyObject_CallNoArgs(pointer.ptr())));
  return pointerPair(argument, *type, address, rule);
}

static nb::object specializeOther(nb::handle argument, const Rule &rule) {
  Array array;
  switch (readArray(argument.ptr(), array)) {
  case ArrayResult::Failed:
    throw nb::python_error();
  case ArrayResult::Read:
    return pointerPair(argument, array.type, array.address, rule);
  case ArrayResult::NotAnArray:
    break;
  }
  if (isJitFunction(argument))
    return pairOf("constexpr", checked(PyObject_GetAttrString(argument.ptr(), "cache_key")));
  if (isDescriptor(argument))
    return specializeDescriptor(argument);
  const PackageNames &names = packageNames();
  if (argument.type().ptr() == names.constexprClass)
    return pairOf("constexpr", nb::borrow(argument));
  if (isA(argument, names.constexprFunctionClass))
    return pairOf("constexpr", checked(PyObject_GetAttrString(argument.ptr(), "cache_key")));
  if (nb::object parts = elementsOf(argument); parts.is_valid())
    return specializeElements(argument, parts, rule);
  if (PyIndex_Check(argument.ptr()) && !PySequence_Check(argument.ptr())) // numpy's integers, SymInt
    return specialize(checked(PyNumber_Index(argument.ptr())), rule);
  if (nb::object standIn = specializeStandIn(argument, rule); standIn.is_valid())
    return standIn;
  raise(PyExc_TypeError, "failed to specialize argument of type: " + std::string(Py_TYPE(argument.ptr())->tp_name));
}

static nb::object specialize(nb::handle argument, const Rule &rule) {
  jit::ArgumentLeaf leaf;
  switch (readNumber(argument.ptr(), leaf)) {
  case NumberResult::Read:
    return argument.is_none() ? pairOf("constexpr", nb::none())
                              : pairOf(jit::classifyNumber(leaf, rule.specialize), rule);
  case NumberResult::TooLarge:
    PyErr_Clear();
    raise(PyExc_OverflowError, "integer " + reprOf(argument) + " does not fit in 64 bits; no Triton type holds it");
  case NumberResult::NotANumber:
    break;
  }
  if (PyTuple_Check(argument.ptr()))
    return specializeElements(argument, argument, rule);
  return specializeOther(argument, rule);
}

static uint64_t addressOf(nb::handle argument) {
  Array array;
  const ArrayResult result = readArray(argument.ptr(), array);
  if (result == ArrayResult::Failed)
    throw nb::python_error();
  if (result == ArrayResult::NotAnArray && isDescriptor(argument))
    return addressOf(baseOf(argument));
  if (result == ArrayResult::NotAnArray)
    raise(PyExc_TypeError, "expected an array, got " + std::string(Py_TYPE(argument.ptr())->tp_name));
  return array.address;
}

static nb::object deviceOf(nb::handle argument) {
  if (argument.is_none() || PyLong_Check(argument.ptr()) || PyFloat_Check(argument.ptr()))
    return nb::none();
  Array array;
  const ArrayResult result = readArray(argument.ptr(), array);
  if (result == ArrayResult::Failed)
    throw nb::python_error();
  if (result == ArrayResult::NotAnArray && isDescriptor(argument))
    return deviceOf(baseOf(argument));
  if (result == ArrayResult::NotAnArray || array.device == DeviceKind::Unknown)
    return nb::none();
  const std::string_view name = array.device == DeviceKind::Other ? array.deviceName : nameOf(array.device);
  return checked(PyTuple_Pack(2, textOf(name).ptr(), checked(PyLong_FromLong(array.deviceIndex)).ptr()));
}

void nereid::python::bindSpecialize(nb::module_ &module) {
  module.def(
      "native_specialize_impl",
      [](nb::handle backend, nb::handle argument, bool isConst, bool specializeValue, bool align) {
        return specialize(argument, {backend, isConst, {specializeValue, align}});
      },
      nb::arg("backend_cls").none(), nb::arg("arg").none(), nb::arg("is_const"), nb::arg("specialize_value"),
      nb::arg("align"), "The type of an argument in a signature, and what else distinguishes kernels for it.");
  module.def("integers_of_each_class", &jit::integersOfEachClass, nb::arg("first"), nb::arg("last"), nb::arg("step"),
             "Integers of a range that together have each class of its members.");
  module.def("is_within_2gib", &isWithin2GiB, nb::arg("array"),
             "Whether the whole storage behind an array is known to have at most 2^31 - 1 bytes.");
  module.def("address_of", &addressOf, nb::arg("array"), "Where an array's elements are, on whatever device.");
  module.def("device_of", &deviceOf, nb::arg("arg").none(),
             "(type, index) of the device that an array is on; None for anything else.");
}
