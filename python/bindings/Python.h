// Functions on top of nanobind and Python's own interface, for every binding file.
// SPDX-License-Identifier: MIT
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <string>
#include <string_view>

namespace nereid::python {

namespace nb = nanobind;

/// Takes over a new reference; a null one throws the Python exception that is set.
inline nb::object checked(PyObject *fresh) {
  if (!fresh)
    throw nb::python_error();
  return nb::steal(fresh);
}

/// The UTF-8 bytes of a str; valid while it lives.
std::string_view utf8(nb::handle text);
std::string reprOf(nb::handle object);
nb::object textOf(std::string_view text);
/// UTF-8 for display of a str that it cannot represent: a path with other bytes in it.
std::string displayed(nb::handle text);

/// A path as an argument from Python: a str, whose bytes need not be UTF-8, bytes, or an os.PathLike.
struct Path {
  std::string bytes;
};
/// Raises for any other object.
std::string pathOf(nb::handle object);

/// A boolean of Python's C API: negative where an exception is set, which is thrown.
inline bool truthOf(int truth) {
  if (truth < 0)
    throw nb::python_error();
  return truth != 0;
}

/// `bool(object)`
inline bool isTrue(nb::handle object) { return truthOf(PyObject_IsTrue(object.ptr())); }

/// Whether `object` is an instance of the class, regardless of its `__class__`.
inline bool isA(nb::handle object, PyObject *pythonClass) {
  return PyType_IsSubtype(Py_TYPE(object.ptr()), reinterpret_cast<PyTypeObject *>(pythonClass)) != 0;
}

/// `object.name`, or null where it has no such attribute.
nb::object attributeOrNull(nb::handle object, const char *name);

/// Without the GIL for the length of a scope. When the interpreter ends, Python before 3.14 ends other threads that
/// come back for the GIL, by unwinding them through whatever C++ they are in; these threads wait for the end instead.
class GilRelease {
public:
  GilRelease() : state(PyEval_SaveThread()) {}
  ~GilRelease();
  GilRelease(const GilRelease &) = delete;
  GilRelease &operator=(const GilRelease &) = delete;

private:
  PyThreadState *const state;
};

/// With the GIL for the length of a scope, on a thread that may not have it; the same at the interpreter's end.
class GilAcquire {
public:
  GilAcquire();
  ~GilAcquire() { PyGILState_Release(state); }
  GilAcquire(const GilAcquire &) = delete;
  GilAcquire &operator=(const GilAcquire &) = delete;

private:
  PyGILState_STATE state;
};

/// Raises `pythonClass(message)`.
[[noreturn]] void raise(PyObject *pythonClass, const std::string &message);

/// The classes and functions of the Python package that the native part uses. Looked up at first use and kept forever,
/// since importing this module must not import the package.
struct PackageNames {
  PyObject *constexprClass, *dtypeClass, *pointerType, *blockType, *tensorClass, *tupleClass, *descriptorClass,
      *builtinClass;
  PyObject *tensorType; ///< (name, shape, pointee, const) -> type object
  PyObject *constexprFunctionClass;
  PyObject *aggregateValue, *semanticClass;
  PyObject *fieldTypes;   ///< (class, names, types) -> the type of an object with fields
  PyObject *wrapConstant; ///< wraps a number or text for Python code written for kernels
};
const PackageNames &packageNames();
/// Whether `object` is a `tl.constexpr`; false where the package is not imported.
bool isConstexpr(nb::handle object);

// One function per file: each adds its part to the module.
void bindTables(nb::module_ &module);
void bindSpecialize(nb::module_ &module);
void bindJit(nb::module_ &module);
void bindBoundLaunch(nb::module_ &module);
void bindPlainCall(nb::module_ &module);
void bindTunedLaunch(nb::module_ &module);
void bindComputedLaunch(nb::module_ &module);
void bindTracebacks(nb::module_ &module);
void bindKernel(nb::module_ &module);
void bindCompile(nb::module_ &module);
void bindCache(nb::module_ &module);
void bindPacks(nb::module_ &module);
void bindIr(nb::module_ &module);
void bindCpuDriver(nb::module_ &module);
void bindCudaDriver(nb::module_ &module);
void bindHipDriver(nb::module_ &module);
void bindSimDriver(nb::module_ &module);
void bindSimPtx(nb::module_ &driver);
void bindXla(nb::module_ &module);
void bindLinearLayout(nb::module_ &module);
void bindLayouts(nb::module_ &module);

} // namespace nereid::python

namespace nanobind::detail {
template <> struct type_caster<nereid::python::Path> {
  NB_TYPE_CASTER(nereid::python::Path, const_name("str"))
  bool from_python(handle source, uint8_t, cleanup_list *) noexcept;
};
} // namespace nanobind::detail
