// Small functions on Python objects, and the package's own names.
// SPDX-License-Identifier: MIT
#include "python/bindings/Python.h"

#include <atomic>
#include <memory>

#include <unistd.h>

namespace nereid::python {

std::string_view utf8(nb::handle text) {
  Py_ssize_t size = 0;
  const char *bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size);
  if (!bytes)
    throw nb::python_error();
  return {bytes, static_cast<size_t>(size)};
}

std::string displayed(nb::handle text) {
  nb::object bytes = checked(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "backslashreplace"));
  return {PyBytes_AS_STRING(bytes.ptr()), static_cast<size_t>(PyBytes_GET_SIZE(bytes.ptr()))};
}

std::string reprOf(nb::handle object) {
  PyObject *text = PyObject_Repr(object.ptr());
  if (!text) {
    PyErr_Clear();
    return std::string("<") + Py_TYPE(object.ptr())->tp_name + " object>";
  }
  return displayed(nb::steal(text));
}

nb::object textOf(std::string_view text) {
  return checked(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

std::string pathOf(nb::handle object) {
  PyObject *bytes = nullptr;
  if (!PyUnicode_FSConverter(object.ptr(), &bytes))
    throw nb::python_error();
  const nb::object owner = nb::steal(bytes);
  return {PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes))};
}

nb::object attributeOrNull(nb::handle object, const char *name) {
  PyObject *attribute = PyObject_GetAttrString(object.ptr(), name);
  if (!attribute) {
    if (!PyErr_ExceptionMatches(PyExc_AttributeError))
      throw nb::python_error();
    PyErr_Clear();
  }
  return nb::steal(attribute);
}

/// For a thread that is being unwound: nothing of it is needed any more, and the process ends without it.
[[noreturn]] static void waitForEnd() {
  for (;;)
    pause();
}

GilRelease::~GilRelease() {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    waitForEnd();
  }
}

GilAcquire::GilAcquire() {
  try {
    state = PyGILState_Ensure();
  } catch (...) {
    waitForEnd();
  }
}

void raise(PyObject *pythonClass, const std::string &message) {
  PyErr_SetObject(pythonClass, textOf(message).ptr());
  throw nb::python_error();
}

const PackageNames &packageNames() {
  static std::atomic<const PackageNames *> known{nullptr};
  if (const PackageNames *names = known.load(std::memory_order_acquire))
    return *names;

  nb::object core = checked(PyImport_ImportModule("triton.language.core"));
  nb::object jit = checked(PyImport_ImportModule("triton.runtime.jit"));
  auto memberOf = [](nb::handle module, const char *name) {
    return checked(PyObject_GetAttrString(module.ptr(), name)).release().ptr();
  };
  auto classIn = [&](nb::handle module, const char *name) {
    PyObject *type = memberOf(module, name);
    if (!PyType_Check(type))
      raise(PyExc_ImportError, std::string("the package's `") + name + "` is not a class, but " + reprOf(type));
    return type;
  };
  auto names = std::make_unique<PackageNames>();
  names->constexprClass = classIn(core, "constexpr");
  names->dtypeClass = classIn(core, "dtype");
  names->pointerType = classIn(core, "pointer_type");
  names->blockType = classIn(core, "block_type");
  names->tensorClass = classIn(core, "tensor");
  names->descriptorClass = classIn(core, "tensor_descriptor");
  names->tupleClass = classIn(core, "tuple");
  names->builtinClass = classIn(core, "Builtin");
  names->tensorType = memberOf(core, "_tensor_type");
  names->constexprFunctionClass = classIn(jit, "ConstexprFunction");
  names->aggregateValue = classIn(core, "aggregate_value");
  nb::object package = checked(PyImport_ImportModule("triton._utils"));
  names->fieldTypes = classIn(package, "FieldTypes");
  nb::object semantic = checked(PyImport_ImportModule("triton.language.semantic"));
  names->semanticClass = classIn(semantic, "Semantic");
  names->wrapConstant = memberOf(semantic, "_wrapped");

  // Two threads may both reach this point; the first one's names are kept.
  const PackageNames *expected = nullptr;
  if (known.compare_exchange_strong(expected, names.get()))
    return *names.release();
  return *expected;
}

bool isConstexpr(nb::handle object) {
  // Compares names first: the package is looked up only for a class that may match.
  if (std::string_view(Py_TYPE(object.ptr())->tp_name) != "constexpr")
    return false;
  try {
    return object.type().ptr() == packageNames().constexprClass;
  } catch (nb::python_error &) {
    return false;
  }
}

} // namespace nereid::python

bool nanobind::detail::type_caster<nereid::python::Path>::from_python(handle source, uint8_t, cleanup_list *) noexcept {
  PyObject *bytes = nullptr;
  if (!PyUnicode_FSConverter(source.ptr(), &bytes)) {
    PyErr_Clear();
    return false;
  }
  value.bytes.assign(PyBytes_AS_STRING(bytes), static_cast<size_t>(PyBytes_GET_SIZE(bytes)));
  Py_DECREF(bytes);
  return true;
}
