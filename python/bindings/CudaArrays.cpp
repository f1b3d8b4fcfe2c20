// Reads GPU arrays of libraries other than torch: `__cuda_array_interface__`, and the stream protocol of `__dlpack__`.
// SPDX-License-Identifier: MIT
#include "python/bindings/Arrays.h"

#include "runtime/cuda/CudaDevice.h"
#include "runtime/hip/HipDevice.h"

using namespace nereid;
using namespace nereid::python;
using jit::ScalarType;

//--- __cuda_array_interface__ ------------------------------------------------------------------

/// The type of a type string such as "<f4"; nullopt for other byte orders.
static std::optional<ScalarType> typeOf(std::string_view text) {
  if (text.size() < 3 || text[0] == '>')
    return std::nullopt;
  unsigned bytes = 0;
  for (const char digit : text.substr(2))
    bytes = digit >= '0' && digit <= '9' && bytes < 1000 ? bytes * 10 + static_cast<unsigned>(digit - '0') : 1000;
  switch (text[1]) {
  case 'f':
    return artifact::elementOfDlpack(dlpack::Float, bytes * 8);
  case 'i':
  case 'u':
    return artifact::integerElement(text[1] == 'i', bytes * 8);
  case 'b':
    return ScalarType::Int1;
  default:
    return std::nullopt;
  }
}

/// The GPU that an address belongs to; with one GPU no query is needed.
template <typename Driver>
static int32_t deviceOf(uint64_t address, const runtime::Expected<Driver *> &driver, DeviceKind kind) {
  if (!driver)
    raise(PyExc_RuntimeError, driver.error().text + " [" + driver.error().code + "]");
  if ((*driver)->deviceCount() == 1)
    return 0;
  auto device = (*driver)->device(0);
  auto info = (*device)->pointerInfo(address);
  return info && info->isKnown ? info->ordinal : currentDevice(kind);
}

static nb::handle entryOf(nb::handle interface, const char *name) {
  return PyDict_Check(interface.ptr()) ? PyDict_GetItemString(interface.ptr(), name) : nullptr;
}

static uint64_t numberOf(nb::handle object) {
  const uint64_t number = PyLong_AsUnsignedLongLongMask(object.ptr());
  if (PyErr_Occurred())
    throw nb::python_error();
  return number;
}

ArrayResult nereid::python::readCudaInterface(PyObject *object, Array &array) {
  nb::object interface = attributeOrNull(object, "__cuda_array_interface__");
  if (!interface.is_valid())
    return ArrayResult::NotAnArray;
  const nb::handle data = entryOf(interface, "data"), typeText = entryOf(interface, "typestr");
  if (!data || !PyTuple_Check(data.ptr()) || PyTuple_GET_SIZE(data.ptr()) < 1 || !typeText ||
      !PyUnicode_Check(typeText.ptr())) {
    PyErr_Format(PyExc_TypeError, "`%s.__cuda_array_interface__` has no `data` and `typestr`",
                 Py_TYPE(object)->tp_name);
    return ArrayResult::Failed;
  }
  std::optional<ScalarType> type = typeOf(utf8(typeText));
  if (!type) // bfloat16 and similar types have no type string, but a name
    if (nb::object dtype = attributeOrNull(object, "dtype"); dtype.is_valid())
      type = scalarTypeNamed(utf8(checked(PyObject_Str(dtype.ptr()))));
  if (!type)
    return unsupportedType(object, reprOf(typeText));
  array.address = numberOf(PyTuple_GET_ITEM(data.ptr(), 0));
  array.isReadOnly = PyTuple_GET_SIZE(data.ptr()) > 1 && PyTuple_GET_ITEM(data.ptr(), 1) == Py_True;
  array.type = *type;
  array.device = kindOfCuda();
  array.deviceIndex = array.device == DeviceKind::Rocm
                          ? deviceOf(array.address, runtime::HipDriver::process().get(), array.device)
                          : deviceOf(array.address, runtime::CudaDriver::process().get(), array.device);
  const nb::handle stream = entryOf(interface, "stream");
  if (stream && PyLong_Check(stream.ptr()))
    array.producer = numberOf(stream);
  array.owner = std::move(interface); // it may own the memory that it describes
  return ArrayResult::Read;
}

//--- __dlpack__ --------------------------------------------------------------------------------

namespace {
struct Gpu {
  DeviceKind kind;
  int32_t ordinal;
};
} // namespace

/// The GPU that the object reports; nullopt for the CPU and others.
static std::optional<Gpu> gpuOf(PyObject *object) {
  nb::object deviceTuple = attributeOrNull(object, "__dlpack_device__");
  if (!deviceTuple.is_valid())
    return std::nullopt;
  deviceTuple = checked(PySequence_Tuple(checked(PyObject_CallNoArgs(deviceTuple.ptr())).ptr()));
  if (PyTuple_GET_SIZE(deviceTuple.ptr()) != 2)
    return std::nullopt;
  nb::object kind = checked(PyNumber_Index(PyTuple_GET_ITEM(deviceTuple.ptr(), 0)));
  nb::object index = checked(PyNumber_Index(PyTuple_GET_ITEM(deviceTuple.ptr(), 1)));
  const uint64_t code = numberOf(kind);
  if (code != dlpack::Cuda && code != dlpack::CudaManaged && code != dlpack::Rocm)
    return std::nullopt;
  return Gpu{code == dlpack::Rocm ? DeviceKind::Rocm : DeviceKind::Cuda, deviceIndexOf(index)};
}

nb::object nereid::python::dlPackCapsule(PyObject *object, uint64_t &readyFor) {
  nb::object method = checked(PyObject_GetAttrString(object, "__dlpack__"));
  nb::dict keywords;
  if (const std::optional<Gpu> gpu = gpuOf(object)) {
    const auto stream = reinterpret_cast<uint64_t>(currentStream(gpu->kind, gpu->ordinal));
    const uint64_t defaultStream = gpu->kind == DeviceKind::Rocm ? 0 : 1; // the protocol's numbers
    readyFor = stream ? stream : defaultStream;
    keywords["stream"] = readyFor;
  }
  keywords["max_version"] = nb::make_tuple(1, 3);
  nb::object capsule = nb::steal(PyObject_Call(method.ptr(), nb::tuple().ptr(), keywords.ptr()));
  if (capsule.is_valid() || !PyErr_ExceptionMatches(PyExc_TypeError))
    return checked(capsule.release().ptr());
  PyErr_Clear(); // the method is older than version 1
  nb::del(keywords["max_version"]);
  return checked(PyObject_Call(method.ptr(), nb::tuple().ptr(), keywords.ptr()));
}
