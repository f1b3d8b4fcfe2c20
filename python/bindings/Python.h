// What every binding file needs of nanobind and of Python's own interface.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

namespace nereid::python {

namespace nb = nanobind;

/// Takes over a new reference; a null one becomes the C++ form of the Python exception that is set.
inline nb::object checked(PyObject *fresh) {
  if (!fresh)
    throw nb::python_error();
  return nb::steal(fresh);
}

/// The UTF-8 bytes of a str; they live as long as it does.
std::string_view utf8(nb::handle text);
std::string reprOf(nb::handle object);
nb::object textOf(std::string_view text);

/// A truth of Python's interface: negative where an exception is set, which becomes its C++ form.
inline bool truthOf(int truth) {
  if (truth < 0)
    throw nb::python_error();
  return truth != 0;
}

/// `bool(object)`
inline bool isTrue(nb::handle object) { return truthOf(PyObject_IsTrue(object.ptr())); }

/// Whether `object` is an instance of the class, whatever it says of itself.
inline bool isA(nb::handle object, PyObject *pythonClass) {
  return PyType_IsSubtype(Py_TYPE(object.ptr()), reinterpret_cast<PyTypeObject *>(pythonClass)) != 0;
}

/// `object.name`, or null where it has no such attribute.
nb::object attributeOrNull(nb::handle object, const char *name);

/// Raises `pythonClass(message)`.
[[noreturn]] void raise(PyObject *pythonClass, const std::string &message);

/// The classes and functions of the Python package that the native part must know. Looked up at first
/// use and kept for good, since importing this module must not import the package.
struct PackageNames {
  PyObject *constexprClass, *dtypeClass, *pointerType, *blockType, *tensorClass, *tupleClass, *descriptorClass,
      *builtinClass;
  PyObject *tensorType; ///< (name, shape, pointee, const) -> type object
  PyObject *constexprFunctionClass;
  PyObject *aggregateValue, *semanticClass;
  PyObject *fieldTypes;   ///< (class, names, types) -> the type of an object with fields
  PyObject *wrapConstant; ///< a number or text as Python code written for kernels sees it
};
const PackageNames &packageNames();
/// Whether `object` is a `tl.constexpr`; false where the package is not there to make one.
bool isConstexpr(nb::handle object);

// One function per file: each adds its part to the module.
void bindTables(nb::module_ &module);
void bindSpecialize(nb::module_ &module);
void bindJit(nb::module_ &module);
void bindKernel(nb::module_ &module);
void bindCompile(nb::module_ &module);
void bindCache(nb::module_ &module);
void bindIr(nb::module_ &module);
void bindCpuDriver(nb::module_ &module);
void bindCudaDriver(nb::module_ &module);
void bindXla(nb::module_ &module);
void bindLinearLayout(nb::module_ &module);

} // namespace nereid::python
