// Reads an array by each supported protocol, and caches the protocol of each Python type.
// SPDX-License-Identifier: MIT
#include "python/bindings/Arrays.h"

#include "artifact/TargetInfo.h"
#include "python/bindings/ConfirmedArrays.h"
#include "python/bindings/TensorClasses.h"

#include <array>
#include <atomic>

using namespace nereid;
using namespace nereid::python;
using jit::ScalarType;

const char *nereid::python::nameOf(DeviceKind device) {
  switch (device) {
  case DeviceKind::Cpu:
    return artifact::kCpu.name.data();
  case DeviceKind::Cuda:
    return artifact::kCuda.name.data();
  case DeviceKind::Rocm:
    return artifact::kHip.name.data();
  case DeviceKind::Unknown:
  case DeviceKind::Other:
    break;
  }
  return "unknown";
}

DeviceKind nereid::python::deviceNamed(std::string_view name) {
  for (DeviceKind kind : {DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Rocm})
    if (name == nameOf(kind))
      return kind;
  return DeviceKind::Other;
}

int32_t nereid::python::dlpackCode(DeviceKind gpu) { return gpu == DeviceKind::Rocm ? dlpack::Rocm : dlpack::Cuda; }

ArrayResult nereid::python::unsupportedType(PyObject *object, const std::string &what) {
  PyErr_Format(PyExc_TypeError,
               "cannot pass this `%s` to a kernel: its elements are of type %s, which kernels have no type for",
               Py_TYPE(object)->tp_name, what.c_str());
  return ArrayResult::Failed;
}

int32_t nereid::python::deviceIndexOf(nb::handle number) {
  int overflow = 0;
  const long long index = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (PyErr_Occurred())
    throw nb::python_error();
  if (overflow || index < -1 || index > INT32_MAX)
    raise(PyExc_ValueError, "an array's device has the index " + reprOf(number) + ", which no device has");
  return static_cast<int32_t>(index);
}

uint64_t nereid::python::addressFrom(nb::handle number) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (PyErr_Occurred())
    throw nb::python_error();
  if (!overflow)
    return static_cast<uint64_t>(value); // a library may give it as a signed number
  nb::object index = checked(PyNumber_Index(number.ptr()));
  const unsigned long long address = PyLong_AsUnsignedLongLong(index.ptr());
  if (!PyErr_Occurred())
    return address;
  PyErr_Clear();
  raise(PyExc_ValueError, "an array's address is " + reprOf(number) + ", which takes more than 64 bits");
}

static ArrayResult fromView(PyObject *object, const dlpack::Tensor &view, Array &array) {
  const std::optional<ScalarType> type =
      view.type.lanes == 1 ? artifact::elementOfDlpack(view.type.code, view.type.bits) : std::nullopt;
  if (!type)
    return unsupportedType(object, "code " + std::to_string(view.type.code) + " with " +
                                       std::to_string(view.type.bits) + " bits (DLPack)");
  array.address = reinterpret_cast<uint64_t>(view.data) + view.byteOffset;
  array.type = *type;
  array.device = kindOfDlpack(view.deviceType);
  array.deviceIndex = view.deviceId;
  return ArrayResult::Read;
}

//--- One reader per protocol -------------------------------------------------------------------

/// An object whose class has `data_ptr`, but not what goes with it.
static ArrayResult incomplete(PyObject *object, const std::string &reason) {
  const std::string text = std::string("cannot pass this `") + Py_TYPE(object)->tp_name + "` to a kernel: " + reason +
                           "; an array has a method `data_ptr()`, which gives its address as an int, and a `dtype` "
                           "of tl, torch or NumPy";
  PyErr_SetString(PyExc_TypeError, text.c_str());
  return ArrayResult::Failed;
}

static ArrayResult readByDataPointer(PyObject *object, Array &array) {
  nb::object method = checked(PyObject_GetAttrString(object, "data_ptr"));
  if (!PyCallable_Check(method.ptr()))
    return incomplete(object, "its `data_ptr` is " + reprOf(method) + ", which cannot be called");
  nb::object address = checked(PyObject_CallNoArgs(method.ptr()));
  if (!PyIndex_Check(address.ptr()))
    return incomplete(object, "its `data_ptr()` gives " + reprOf(address));
  array.address = addressFrom(address);
  nb::object dtype = attributeOrNull(object, "dtype");
  if (!dtype.is_valid())
    return incomplete(object, "it has `data_ptr`, and no `dtype`");
  nb::object spelling = checked(PyObject_Str(dtype.ptr()));
  const std::optional<ScalarType> type = scalarTypeNamed(utf8(spelling));
  if (!type)
    return unsupportedType(object, std::string(utf8(spelling)));
  array.type = *type;

  nb::object device = attributeOrNull(object, "device");
  nb::object kind = device.is_valid() ? attributeOrNull(device, "type") : nb::object();
  if (!kind.is_valid() || !PyUnicode_Check(kind.ptr()))
    return ArrayResult::Read; // a stand-in without a device, such as MockTensor
  const std::string_view name = utf8(kind);
  array.device = name == nameOf(DeviceKind::Cuda) ? kindOfCuda() : deviceNamed(name);
  if (array.device == DeviceKind::Other) {
    PyObject *interned = kind.release().ptr();
    PyUnicode_InternInPlace(&interned); // one of a few names
    array.deviceName = utf8(interned);
  }
  nb::object index = attributeOrNull(device, "index");
  if (index.is_valid() && PyLong_Check(index.ptr()))
    array.deviceIndex = deviceIndexOf(index);
  return ArrayResult::Read;
}

/// numpy's array interface, version 3, as a C structure.
struct ArrayStruct {
  int two;
  int rank;
  char kind;
  int itemBytes;
  int flags;
  Py_intptr_t *shape;
  Py_intptr_t *strides;
  void *data;
  PyObject *descriptor;
};
static constexpr int nativeByteOrder = 0x200, writable = 0x400;

static ArrayResult readNumpy(PyObject *object, Array &array) {
  nb::object capsule = checked(PyObject_GetAttrString(object, "__array_struct__"));
  auto *view = static_cast<ArrayStruct *>(PyCapsule_GetPointer(capsule.ptr(), nullptr));
  if (!view)
    throw nb::python_error();
  if (view->two != 2) {
    PyErr_Format(PyExc_TypeError, "`%s.__array_struct__` is of an unknown version", Py_TYPE(object)->tp_name);
    return ArrayResult::Failed;
  }
  std::optional<ScalarType> type;
  if (view->flags & nativeByteOrder) {
    const unsigned bits = static_cast<unsigned>(view->itemBytes) * 8;
    if (view->kind == 'f')
      type = artifact::elementOfDlpack(dlpack::Float, bits);
    else if (view->kind == 'i' || view->kind == 'u')
      type = artifact::integerElement(view->kind == 'i', bits);
    else if (view->kind == 'b')
      type = ScalarType::Int1;
    else if (view->kind == 'V') // bfloat16 and similar types of other packages
      type = scalarTypeNamed(utf8(checked(PyObject_Str(checked(PyObject_GetAttrString(object, "dtype")).ptr()))));
  }
  if (!type)
    return unsupportedType(object, reprOf(checked(PyObject_GetAttrString(object, "dtype"))));
  array.address = reinterpret_cast<uint64_t>(view->data);
  array.type = *type;
  array.device = DeviceKind::Cpu;
  array.isReadOnly = !(view->flags & writable);
  return ArrayResult::Read;
}

static ArrayResult readDlPack(PyObject *object, Array &array) {
  nb::object capsule = dlPackCapsule(object, array.producer);
  // The capsule frees the view when it dies, which must not happen before the launch has ended.
  ArrayResult result = ArrayResult::NotAnArray;
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor")) {
    auto *managed = static_cast<dlpack::ManagedTensor *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
    result = fromView(object, managed->tensor, array);
  } else if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned")) {
    auto *managed =
        static_cast<dlpack::ManagedTensorVersioned *>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    if (managed->version.major == 1)
      result = fromView(object, managed->tensor, array);
    array.isReadOnly = managed->flags & dlpack::readOnly;
  }
  if (result == ArrayResult::NotAnArray) {
    PyErr_Format(PyExc_TypeError, "`%s.__dlpack__()` gave no capsule of a known version", Py_TYPE(object)->tp_name);
    return ArrayResult::Failed;
  }
  array.owner = std::move(capsule);
  return result;
}

//--- The protocol of each type -----------------------------------------------------------------

namespace {
enum class Protocol : uint8_t { None, Exchange, CheckedExchange, Numpy, CudaInterface, DlPack, DataPointer };

struct ArrayTypeInfo {
  ViewedClass known;
  Protocol protocol;
  StreamQuery streamQuery = nullptr;
  bool isKept = false;
};
} // namespace

// Few types are ever passed. An entry is written once and stays; a type that finds no free entry is classified anew
// each time.
static std::array<std::atomic<const ArrayTypeInfo *>, 64> knownTypes;

static bool typeHas(PyTypeObject *type, const char *name) {
  nb::object attribute = attributeOrNull(reinterpret_cast<PyObject *>(type), name);
  return attribute.is_valid();
}

static ArrayTypeInfo examine(PyTypeObject *type) {
  nb::object capsule = attributeOrNull(reinterpret_cast<PyObject *>(type), "__dlpack_c_exchange_api__");
  const bool hasTable = capsule.is_valid() && PyCapsule_IsValid(capsule.ptr(), "dlpack_exchange_api");
  if (const ViewTruth truth = hasTable ? viewTruthOf(type) : ViewTruth::None; truth != ViewTruth::None) {
    auto *api = static_cast<dlpack::ExchangeApi *>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
    while (api && api->version.major > 1)
      api = api->older;
    if (api && api->version.major == 1 && api->viewFromObject)
      return {{type, api->viewFromObject},
              truth == ViewTruth::Certain ? Protocol::Exchange : Protocol::CheckedExchange,
              api->currentStream};
  }
  if (typeHas(type, "data_ptr"))
    return {{type}, Protocol::DataPointer};
  // numpy's scalars have an array interface too, but they are passed by value.
  if (typeHas(type, "__array_struct__") && typeHas(type, "__setitem__"))
    return {{type}, Protocol::Numpy};
  if (typeHas(type, "__cuda_array_interface__"))
    return {{type}, Protocol::CudaInterface};
  if (typeHas(type, "__dlpack__"))
    return {{type}, Protocol::DlPack};
  return {{type}, Protocol::None};
}

/// What is known of the class; `room` is for one that finds no entry.
static const ArrayTypeInfo &infoOf(PyTypeObject *type, ArrayTypeInfo &room) {
  const size_t start = (reinterpret_cast<uintptr_t>(type) >> 4) % knownTypes.size();
  for (size_t step = 0; step < 8; ++step) {
    std::atomic<const ArrayTypeInfo *> &entry = knownTypes[(start + step) % knownTypes.size()];
    const ArrayTypeInfo *info = entry.load(std::memory_order_acquire);
    if (info && info->known.type == type)
      return *info;
    if (info)
      continue;
    auto fresh = std::make_unique<ArrayTypeInfo>(examine(type));
    fresh->isKept = true;
    if (entry.compare_exchange_strong(info, fresh.get())) {
      Py_INCREF(type);
      return *fresh.release();
    }
    if (info->known.type == type) // another thread's
      return *info;
  }
  return room = examine(type);
}

/// Whether the object's own method, which may be intercepted, returns the address of the view.
static bool hasAddressOf(PyObject *object, const dlpack::Tensor &view) {
  static PyObject *const methodName = PyUnicode_InternFromString("data_ptr");
  const uint64_t viewed = reinterpret_cast<uint64_t>(view.data) + view.byteOffset;
  if (isConfirmed(object, viewed))
    return true;
  nb::object address = checked(PyObject_CallMethodNoArgs(object, methodName));
  if (!PyLong_Check(address.ptr()) || addressFrom(address) != viewed)
    return false;
  confirmArray(object, viewed);
  return true;
}

static ArrayResult readExchange(PyObject *object, const ArrayTypeInfo &info, Array &array) {
  dlpack::Tensor view;
  array.streamQuery = info.streamQuery;
  if (info.known.view(object, &view) == 0) {
    if (info.isKept && info.protocol == Protocol::Exchange) {
      array.viewed = &info.known;
      array.viewedElement = view.type;
      array.viewedDevice = view.deviceType;
    }
    if (info.protocol == Protocol::Exchange || hasAddressOf(object, view))
      return fromView(object, view, array);
    return readByDataPointer(object, array);
  }
  // Devices and types that DLPack has no code for still have a pointer.
  PyErr_Clear();
  return readByDataPointer(object, array);
}

static ArrayResult read(PyObject *object, Array &array) {
  ArrayTypeInfo room;
  const ArrayTypeInfo &info = infoOf(Py_TYPE(object), room);
  switch (info.protocol) {
  case Protocol::None:
    return ArrayResult::NotAnArray;
  case Protocol::Exchange:
  case Protocol::CheckedExchange:
    return readExchange(object, info, array);
  case Protocol::Numpy:
    return readNumpy(object, array);
  case Protocol::CudaInterface: {
    // A library may have the property for arrays that are not on a GPU, and then fail to read it.
    const ArrayResult result = readCudaInterface(object, array);
    return result == ArrayResult::NotAnArray && typeHas(Py_TYPE(object), "__dlpack__") ? readDlPack(object, array)
                                                                                       : result;
  }
  case Protocol::DlPack:
    return readDlPack(object, array);
  case Protocol::DataPointer:
    return readByDataPointer(object, array);
  }
  return ArrayResult::NotAnArray;
}

ArrayResult nereid::python::readArray(PyObject *object, Array &array) {
  try {
    return read(object, array);
  } catch (nb::python_error &error) {
    error.restore();
    return ArrayResult::Failed;
  }
}
