// Reads address, element type and device of any object passed as an array.
// SPDX-License-Identifier: MIT
//
// torch tensors are read through DLPack's C table (one call, no Python object created), numpy arrays through
// `__array_struct__`, others through `__cuda_array_interface__`, `__dlpack__`, or `data_ptr()` with `dtype` and
// `device`.
#pragma once

#include "jit/Signature.h"
#include "python/bindings/DlPack.h"
#include "python/bindings/Python.h"
#include "python/bindings/Streams.h"

namespace nereid::python {

/// A class whose objects are read by a view without a call of Python code.
struct ViewedClass {
  PyTypeObject *type; ///< owned, so that its address is not reused for another type
  int (*view)(void *, dlpack::Tensor *) = nullptr;
};

struct Array {
  uint64_t address = 0;
  jit::ScalarType type = jit::ScalarType::Int8;
  DeviceKind device = DeviceKind::Unknown;
  int32_t deviceIndex = 0;
  bool isReadOnly = false;     ///< false if the protocol does not tell
  std::string_view deviceName; ///< of a device that is `Other`; the string is never freed
  /// Returns the stream that the array's library uses; null where the type has no such function.
  StreamQuery streamQuery = nullptr;
  /// The stream that produces the contents, which other streams must wait for; 0 where no wait is needed.
  uint64_t producer = 0;
  /// Keeps borrowed memory alive; null where the array itself does.
  nb::object owner;
  /// The array's class, where it is one of these, and what its view has; never freed.
  const ViewedClass *viewed = nullptr;
  dlpack::DataType viewedElement = {};
  int32_t viewedDevice = 0;
};

enum class ArrayResult : uint8_t {
  Read,
  NotAnArray,
  Failed, ///< an array that cannot be passed; a Python exception is set
};
ArrayResult readArray(PyObject *object, Array &array);

/// The number of a device as a Python int, -1 for none; raises where it can be no device's.
int32_t deviceIndexOf(nb::handle number);

/// An array's address as a Python int; raises where it takes more than 64 bits.
uint64_t addressFrom(nb::handle number);

// The protocols of arrays on a GPU (CudaArrays.cpp); both throw Python exceptions as nb::python_error.
ArrayResult readCudaInterface(PyObject *object, Array &array);
/// The capsule of `object.__dlpack__()`, of version 1 where the object supports it. The contents are ready for the
/// current stream, which is stored in `readyFor`; it is unchanged where the object is not on a GPU.
nb::object dlPackCapsule(PyObject *object, uint64_t &readyFor);

/// Raises an exception that names the element type, as the array spells it.
ArrayResult unsupportedType(PyObject *object, const std::string &spelling);

/// The type for any spelling: `torch.float32`, `float32`, `<class 'numpy.float32'>`, `fp32`.
std::optional<jit::ScalarType> scalarTypeNamed(std::string_view spelling);

const char *nameOf(DeviceKind device);
/// The kind of a device by the name of a target.
DeviceKind deviceNamed(std::string_view name);
/// DLPack's number of a kind of GPU.
int32_t dlpackCode(DeviceKind gpu);
/// The kind of device that DLPack gives that number.
inline DeviceKind kindOfDlpack(int32_t code) {
  switch (code) {
  case dlpack::Cpu:
  case dlpack::CudaHost:
  case dlpack::RocmHost:
    return DeviceKind::Cpu;
  case dlpack::Cuda:
  case dlpack::CudaManaged:
    return DeviceKind::Cuda;
  case dlpack::Rocm:
    return DeviceKind::Rocm;
  default:
    return DeviceKind::Other;
  }
}

} // namespace nereid::python
