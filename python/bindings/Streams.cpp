// Queries torch, or the driver, for the current device and stream.
// SPDX-License-Identifier: MIT
#include "python/bindings/Streams.h"

#include "runtime/cuda/CudaDriver.h"
#include "runtime/hip/HipDriver.h"

#include <atomic>
#include <optional>

namespace nereid::python {

static std::atomic<DeviceKind> activeKind{DeviceKind::Unknown};

void setActiveKind(DeviceKind kind) { activeKind.store(kind, std::memory_order_release); }

/// The kind of GPU that torch is built for; nothing where it is not imported, or built for none.
static std::optional<DeviceKind> kindOfTorch() {
  static PyObject *const moduleName = PyUnicode_InternFromString("torch.version");
  PyObject *module = PyImport_GetModule(moduleName);
  const auto isBuiltFor = [module](const char *name) {
    PyObject *version = module ? PyObject_GetAttrString(module, name) : nullptr;
    PyErr_Clear(); // no torch, or an old one
    const bool isThere = version && version != Py_None;
    Py_XDECREF(version);
    return isThere;
  };
  const bool isRocm = isBuiltFor("hip"), isCuda = isBuiltFor("cuda");
  Py_XDECREF(module);
  if (!isRocm && !isCuda)
    return std::nullopt;
  return isRocm ? DeviceKind::Rocm : DeviceKind::Cuda;
}

/// `torch._C.<name>` as soon as torch is imported and has it; borrowed, and kept forever. Null where torch is built
/// for other GPUs.
static PyObject *torchFunction(std::atomic<PyObject *> &cached, const char *name, DeviceKind kind) {
  if (PyObject *known = cached.load(std::memory_order_acquire))
    return known == Py_None ? nullptr : known;
  static PyObject *const moduleName = PyUnicode_InternFromString("torch._C");
  PyObject *module = PyImport_GetModule(moduleName);
  PyObject *function = module ? PyObject_GetAttrString(module, name) : nullptr;
  Py_XDECREF(module);
  if (!function) { // not imported, not all of it yet, or built without CUDA
    PyErr_Clear();
    return nullptr;
  }
  if (kindOfTorch().value_or(kind) != kind) {
    Py_DECREF(function);
    cached.store(Py_None, std::memory_order_release);
    return nullptr;
  }
  PyObject *expected = nullptr;
  if (cached.compare_exchange_strong(expected, function))
    return function;
  Py_DECREF(function);
  return expected;
}

/// Calls a function that returns a number; false, with no exception left, where it fails.
static bool callForNumber(PyObject *function, PyObject *argument, uint64_t &number) {
  PyObject *result = argument ? PyObject_CallOneArg(function, argument) : PyObject_CallNoArgs(function);
  const bool isNumber = result && PyLong_Check(result);
  if (isNumber)
    number = PyLong_AsUnsignedLongLongMask(result);
  Py_XDECREF(result);
  PyErr_Clear();
  return isNumber;
}

/// One entry for each kind of GPU that torch may be built for.
struct FunctionsByKind {
  std::atomic<PyObject *> cuda{nullptr}, rocm{nullptr};
  std::atomic<PyObject *> &operator[](DeviceKind kind) { return kind == DeviceKind::Rocm ? rocm : cuda; }
};

void *currentStream(DeviceKind kind, int32_t ordinal) {
  static FunctionsByKind cached;
  PyObject *function = torchFunction(cached[kind], "_cuda_getCurrentRawStream", kind);
  if (!function)
    return nullptr;
  uint64_t stream = 0;
  PyObject *argument = PyLong_FromLong(ordinal);
  if (argument)
    callForNumber(function, argument, stream);
  Py_XDECREF(argument);
  return reinterpret_cast<void *>(stream);
}

/// The thread's device in HIP; 0 where HIP cannot be used.
static int32_t currentHipDevice() {
  auto driver = runtime::HipDriver::process().get();
  int device = 0;
  return driver && (*driver)->calls().hipGetDevice(&device) == runtime::hip::Success ? device : 0;
}

int32_t currentDevice(DeviceKind kind) {
  static FunctionsByKind cached;
  uint64_t ordinal = 0;
  if (PyObject *function = torchFunction(cached[kind], "_cuda_getDevice", kind))
    if (callForNumber(function, nullptr, ordinal))
      return static_cast<int32_t>(ordinal);
  if (kind == DeviceKind::Rocm)
    return currentHipDevice();
  auto driver = runtime::CudaDriver::process().get();
  runtime::cuda::Ordinal device = 0;
  if (driver && (*driver)->calls().cuCtxGetDevice(&device) == runtime::cuda::Success)
    return device;
  return 0;
}

DeviceKind kindOfCuda() {
  if (const auto kind = kindOfTorch())
    return *kind;
  if (const DeviceKind kind = activeKind.load(std::memory_order_acquire);
      kind == DeviceKind::Cuda || kind == DeviceKind::Rocm)
    return kind;
  if (runtime::CudaDriver::process().isInitialized() || runtime::HipDriver::process().isInitialized())
    return runtime::CudaDriver::process().isInitialized() ? DeviceKind::Cuda : DeviceKind::Rocm;
  return !runtime::CudaDriver::process().hasLibrary() && runtime::HipDriver::process().hasLibrary() ? DeviceKind::Rocm
                                                                                                    : DeviceKind::Cuda;
}

bool readStream(PyObject *object, void *&stream) {
  stream = nullptr;
  if (object == Py_None)
    return true;
  PyObject *handle = PyLong_Check(object) ? Py_NewRef(object) : PyObject_GetAttrString(object, "cuda_stream");
  if (!handle) {
    PyErr_Clear();
    handle = PyObject_GetAttrString(object, "ptr");
  }
  if (handle && PyLong_Check(handle))
    stream = PyLong_AsVoidPtr(handle);
  const bool isStream = handle && PyLong_Check(handle) && !PyErr_Occurred();
  Py_XDECREF(handle);
  PyErr_Clear();
  return isStream;
}

} // namespace nereid::python
