// Compares a class with the tensor class that it derives from.
// SPDX-License-Identifier: MIT
//
// Reading a subclass of torch.Tensor by its methods costs a call of `__torch_function__` for each of address, dtype and
// device, ten microseconds apiece. Most subclasses leave these alone. A class with `__torch_dispatch__` may have no
// memory at all.
#include "python/bindings/TensorClasses.h"

namespace nereid::python {

/// The class in the line of bases that has the exchange table itself; null where there is none.
static PyTypeObject *ownerOfTable(PyTypeObject *type) {
  PyObject *const bases = type->tp_mro;
  for (Py_ssize_t i = 0; bases && i < PyTuple_GET_SIZE(bases); ++i) {
    PyObject *base = PyTuple_GET_ITEM(bases, i);
    nb::object own = attributeOrNull(base, "__dict__");
    if (own.is_valid() && PyMapping_HasKeyString(own.ptr(), "__dlpack_c_exchange_api__"))
      return reinterpret_cast<PyTypeObject *>(base);
  }
  return nullptr;
}

/// What the class has under the name, without binding it; borrowed, or null.
static PyObject *rawAttribute(PyTypeObject *type, const char *name) {
  PyObject *text = PyUnicode_InternFromString(name);
  PyObject *found = text ? _PyType_Lookup(type, text) : nullptr;
  Py_XDECREF(text);
  return found;
}

static bool hasSame(PyTypeObject *type, PyTypeObject *base, const char *name) {
  return rawAttribute(type, name) == rawAttribute(base, name);
}

/// Whether the class, as torch's Parameter, turns the interception of calls off.
static bool interceptsNothing(PyTypeObject *type) {
  static PyObject *const moduleName = PyUnicode_InternFromString("torch._C");
  nb::object module = nb::steal(PyImport_GetModule(moduleName));
  PyErr_Clear();
  nb::object disabled = module.is_valid() ? attributeOrNull(module, "_disabled_torch_function_impl") : nb::object();
  return disabled.is_valid() && rawAttribute(type, "__torch_function__") == disabled.ptr();
}

ViewTruth viewTruthOf(PyTypeObject *type) {
  PyTypeObject *const base = ownerOfTable(type);
  if (!base)
    return ViewTruth::None;
  if (base == type)
    return ViewTruth::Certain;
  for (const char *name : {"__torch_dispatch__", "data_ptr", "dtype", "device"})
    if (!hasSame(type, base, name))
      return ViewTruth::None;
  if (type->tp_getattro != base->tp_getattro)
    return ViewTruth::None;
  return hasSame(type, base, "__torch_function__") || interceptsNothing(type) ? ViewTruth::Certain : ViewTruth::Checked;
}

} // namespace nereid::python
