// Reads address, element type and device of whatever people pass as an array.
// SPDX-License-Identifier: MIT
//
// torch tensors go through DLPack's C table (one call, no Python object made), numpy arrays through
// `__array_struct__`, others through `__cuda_array_interface__`, `__dlpack__`, or `data_ptr()` with `dtype` and
// `device`.
#pragma once

#include "jit/Signature.h"
#include "python/bindings/DlPack.h"
#include "python/bindings/Python.h"
#include "python/bindings/Streams.h"

namespace nereid::python {

enum class DeviceKind : uint8_t { Unknown, Cpu, Cuda, Rocm, Other };

struct Array {
  uint64_t address = 0;
  jit::ScalarType type = jit::ScalarType::I8;
  DeviceKind device = DeviceKind::Unknown;
  int32_t deviceIndex = 0;
  bool isReadOnly = false;     ///< as far as the protocol tells
  std::string_view deviceName; ///< of a device that is `Other`; the string is kept for good
  /// Tells the stream that the array's library puts its work into; null where the type does not say.
  StreamQuery streamQuery = nullptr;
  /// The stream that the contents come from, which others have to wait for; 0 where there is nothing to wait for.
  uint64_t producer = 0;
  /// Keeps borrowed memory alive; null where the array itself does.
  nb::object owner;
};

enum class ArrayResult : uint8_t {
  Read,
  NotAnArray,
  Failed, ///< an array that cannot be passed; a Python exception says why
};
ArrayResult readArray(PyObject *object, Array &array);

// The protocols of arrays on a GPU (CudaArrays.cpp); both raise C++ forms of Python exceptions.
ArrayResult readCudaInterface(PyObject *object, Array &array);
/// The capsule of `object.__dlpack__()`, of version 1 where the object knows it. The contents are there for the current
/// stream, which becomes `readyFor`; it stays as it is where the object is not on a GPU.
nb::object dlPackCapsule(PyObject *object, uint64_t &readyFor);

/// An exception that names the element type, as the array spells it.
ArrayResult unsupportedType(PyObject *object, const std::string &spelling);

/// The type behind any spelling: `torch.float32`, `float32`, `<class 'numpy.float32'>`, `fp32`.
std::optional<jit::ScalarType> scalarTypeNamed(std::string_view spelling);

/// By class and width; nothing where kernels have no such type.
std::optional<jit::ScalarType> integerType(bool isSigned, unsigned bits);
std::optional<jit::ScalarType> floatType(unsigned bits);
std::optional<jit::ScalarType> scalarTypeOf(dlpack::DataType type);

const char *nameOf(DeviceKind device);

} // namespace nereid::python
